//! When jobs are submitted.

use std::str::FromStr;

use hiatus_core::units::Millis;
use rand::Rng;
use rand_distr::{Distribution, Exp1};

use super::millis;

/// A way in which jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent of each other, with this mean gap in seconds.
    Poisson(f64),
    /// One every so many seconds.
    Periodic(f64),
    /// So many at once, every so many seconds.
    Burst {
        /// Jobs per burst.
        size: u32,
        /// Seconds between bursts.
        every_s: f64,
    },
}

impl Arrivals {
    /// When `count` jobs arrive, the first at time 0.
    pub fn draw(self, count: usize, rng: &mut impl Rng) -> Vec<Millis> {
        let mut at = 0.0;
        (0..count)
            .map(|n| match self {
                Arrivals::Poisson(gap) => {
                    let now = at;
                    let factor: f64 = Exp1.sample(rng);
                    at += gap * factor;
                    millis(now)
                }
                Arrivals::Periodic(gap) => millis(n as f64 * gap),
                Arrivals::Burst { size, every_s } => millis((n / size.max(1) as usize) as f64 * every_s),
            })
            .collect()
    }
}

impl FromStr for Arrivals {
    type Err = String;

    /// `poisson:30`, `periodic:30` or `burst:10:600`.
    fn from_str(text: &str) -> Result<Arrivals, String> {
        let seconds = |text: &str| text.parse().ok().filter(|gap: &f64| gap.is_finite() && *gap > 0.0);
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts.as_slice() {
            ["poisson", gap] => seconds(gap).map(Arrivals::Poisson),
            ["periodic", gap] => seconds(gap).map(Arrivals::Periodic),
            ["burst", size, gap] => {
                let size = size.parse().ok().filter(|size| *size > 0);
                size.zip(seconds(gap)).map(|(size, every_s)| Arrivals::Burst { size, every_s })
            }
            _ => None,
        };
        found.ok_or_else(|| "must be poisson:SECONDS, periodic:SECONDS or burst:JOBS:SECONDS".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn draw(text: &str, count: usize) -> Vec<u64> {
        let arrivals: Arrivals = text.parse().unwrap();
        arrivals.draw(count, &mut Xoshiro256PlusPlus::seed_from_u64(4)).into_iter().map(|at| at.0).collect()
    }

    #[test]
    fn periodic_and_burst_arrivals_are_where_they_must_be() {
        assert_eq!(draw("periodic:1.5", 3), [0, 1500, 3000]);
        assert_eq!(draw("burst:2:10", 5), [0, 0, 10_000, 10_000, 20_000]);
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_spread() {
        let at = draw("poisson:30", 20_001);
        let gaps: Vec<f64> = at.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1000.0).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let longer = gaps.iter().filter(|gap| **gap > 30.0).count() as f64 / gaps.len() as f64;
        assert!((mean - 30.0).abs() < 1.0 && (longer - (-1.0f64).exp()).abs() < 0.02, "{mean} {longer}");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["poisson", "poisson:0", "poisson:-1", "periodic:nan", "burst:0:5", "burst:5", "weekly:1"] {
            assert!(text.parse::<Arrivals>().is_err(), "{text}");
        }
    }
}
