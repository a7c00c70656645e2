//! Task times as the HFSP thesis measured them: Figures 5.7 and 5.8.

/// A distribution by its quantiles: shares from 0 to 1, and the values there. Between two of them the logarithm of the
/// value grows evenly; below the first the value is the first, above the last the last.
#[derive(Debug)]
pub(super) struct Quantiles(&'static [(f64, f64)]);

/// Seconds of all reduce tasks (Figure 5.7).
pub(super) const REDUCE_S: Quantiles = Quantiles(&[
    (0.05, 5.8),
    (0.1, 6.5),
    (0.25, 7.9),
    (0.5, 13.2),
    (0.75, 64.7),
    (0.9, 122.0),
    (0.95, 715.0),
    (0.99, 1335.0),
    (1.0, 3737.0),
]);

/// A map's time over the mean of its job (Figure 5.8). Beyond 0.99 the figure tells the largest only: a power law leads there over
/// some 100,000 maps. Evenly growing logarithms up to 1 would make the mean 1.08, and put 6 of 1,000 maps above a minute instead of 2.
pub(super) const MAP_FACTOR: Quantiles = Quantiles(&[
    (0.05, 0.55),
    (0.1, 0.65),
    (0.25, 0.8),
    (0.5, 0.95),
    (0.75, 1.12),
    (0.9, 1.34),
    (0.95, 1.57),
    (0.99, 2.57),
    (0.999, 5.41),
    (0.9999, 11.4),
    (0.99999, 24.0),
]);

/// A reduce's time over the mean of its job (Figure 5.8), likewise, over some 10,000 reduces.
pub(super) const REDUCE_FACTOR: Quantiles = Quantiles(&[
    (0.05, 0.74),
    (0.1, 0.81),
    (0.25, 0.91),
    (0.5, 0.99),
    (0.75, 1.06),
    (0.9, 1.17),
    (0.95, 1.3),
    (0.99, 1.69),
    (0.999, 2.36),
    (0.9999, 3.3),
]);

impl Quantiles {
    /// The value below which that share of the distribution lies.
    pub(super) fn at(&self, share: f64) -> f64 {
        let above = self.0.partition_point(|(below, _)| *below < share).min(self.0.len() - 1);
        let (upper, value) = self.0[above];
        let Some(&(lower, least)) = above.checked_sub(1).and_then(|below| self.0.get(below)) else { return value };
        let way = ((share - lower) / (upper - lower)).min(1.0);
        least * (value / least).powf(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_quantiles_are_met_and_between_them_logarithms_grow_evenly() {
        for quantiles in [REDUCE_S, MAP_FACTOR, REDUCE_FACTOR] {
            for (share, value) in quantiles.0 {
                assert!((quantiles.at(*share) - value).abs() < 1e-9, "{share}");
            }
        }
        assert!((REDUCE_S.at(0.625) - (13.2f64 * 64.7).sqrt()).abs() < 1e-9);
        assert_eq!((REDUCE_S.at(0.0), REDUCE_S.at(2.0)), (5.8, 3737.0));
    }
}
