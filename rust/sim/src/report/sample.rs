//! The same quantity measured in several runs.

/// The value at most a fraction `q` of the `sorted` values lies below (nearest rank); NaN without values.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// Measured values, one per run.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// A sample of these values.
    pub fn new(values: Vec<f64>) -> Sample {
        Sample(values)
    }

    /// The values, in the order of the runs.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The share of the values for which `which` holds; NaN of no values.
    pub fn share(&self, which: impl Fn(f64) -> bool) -> f64 {
        self.0.iter().filter(|value| which(**value)).count() as f64 / self.len() as f64
    }

    /// Mean; NaN of no values.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.len() as f64
    }

    /// Half the width of the 95 % confidence interval of the mean (normal approximation); NaN below two values.
    pub fn half_width(&self) -> f64 {
        let (mean, n) = (self.mean(), self.len() as f64);
        let variance = self.0.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        1.96 * (variance / n).sqrt()
    }

    /// The value at most a fraction `q` of the values lies below (nearest rank); NaN of no values.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        quantile(&sorted, q)
    }

    /// Median; NaN of no values.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[middle],
            _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_median_and_confidence() {
        let sample = Sample::new(vec![4.0, 1.0, 3.0, 8.0]);
        assert_eq!((sample.mean(), sample.median()), (4.0, 3.5));
        // Variance (0 + 9 + 1 + 16) / 3.
        assert!((sample.half_width() - 1.96 * (26.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert!(Sample::new(vec![]).median().is_nan());
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        let found = [0.0, 0.25, 0.5, 0.51, 1.0].map(|q| quantile(&sorted, q));
        assert_eq!(found, [1.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
