//! Random loss on the wire.

use crate::engine::random::{Purpose, Stream};
use crate::plan::LossPlan;
use selfclock_congestion::units::Time;

/// A loss process, with its own random stream.
#[derive(Clone, Debug)]
pub struct Loss {
    plan: LossPlan,
    bad: bool,
    /// Time of the last packet, if bursts are in time.
    last: Time,
    stream: Stream,
}

impl Loss {
    /// The loss process of this link; `None` without loss.
    pub fn new(plan: LossPlan, seed: u64, link: usize) -> Option<Self> {
        if plan == LossPlan::None {
            return None;
        }
        Some(Self { plan, bad: false, last: Time::ZERO, stream: Stream::new(seed, Purpose::LinkLoss, link) })
    }

    /// Whether the next packet, which has been sent at `now`, is lost.
    pub fn strikes(&mut self, now: Time) -> bool {
        match self.plan {
            LossPlan::None => false,
            LossPlan::Bernoulli(probability) => self.stream.happens(probability),
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let change = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.stream.happens(change);
                self.stream.happens(if self.bad { loss_bad } else { loss_good })
            }
            LossPlan::Bursts { good, bad, loss_good, loss_bad } => {
                // The state now, given that at the last packet: the chain forgets at the sum of its
                // rates.
                let forgets = 1.0 / good.seconds() + 1.0 / bad.seconds();
                let share = bad.seconds() / (good.seconds() + bad.seconds());
                let before = if self.bad { 1.0 } else { 0.0 };
                let gap = now.since(self.last).seconds();
                self.bad = self.stream.happens(share + (before - share) * libm::exp(-gap * forgets));
                self.last = now;
                self.stream.happens(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::Duration;

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_and_burst_length() {
        let (good_to_bad, bad_to_good) = (0.01, 0.2);
        let plan = LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good: 0.0, loss_bad: 1.0 };
        let mut loss = Loss::new(plan, 1, 0).expect("a process");
        const PACKETS: usize = 1_000_000;
        let (mut lost, mut bursts, mut previous) = (0_usize, 0_usize, false);
        for _ in 0..PACKETS {
            let now = loss.strikes(Time::ZERO);
            lost += usize::from(now);
            bursts += usize::from(now && !previous);
            previous = now;
        }
        // Stationary bad probability g/(g+b) = 0.0476. About 9500 bursts of mean length 5: their
        // number and length each have a relative standard error of 1 %, the loss rate 1.4 %; three
        // of them.
        let rate = lost as f64 / PACKETS as f64;
        assert!((rate / (good_to_bad / (good_to_bad + bad_to_good)) - 1.0).abs() < 0.043, "{rate}");
        let length = lost as f64 / bursts as f64;
        assert!((length * bad_to_good - 1.0).abs() < 0.03, "{length}");
    }

    /// Mean times of 80 and 20 ms, however often a packet comes: a fifth is lost, and of packets
    /// that follow a lost one by t the fraction 0.2 + 0.8 exp(-t / 16 ms), the autocorrelation of
    /// a chain of these two rates (Gilbert 1960, in continuous time).
    #[test]
    fn bursts_in_time_do_not_depend_on_the_packets() {
        let ms = Duration::from_milliseconds;
        let plan = LossPlan::Bursts { good: ms(80), bad: ms(20), loss_good: 0.0, loss_bad: 1.0 };
        const PACKETS: usize = 400_000;
        for gap in [1, 4, 16, 50] {
            let mut loss = Loss::new(plan, 1, 0).expect("a process");
            let lost: Vec<bool> =
                (1..=PACKETS).map(|number| loss.strikes(Time::ZERO + ms(gap).times(number as u64))).collect();
            let count = lost.iter().filter(|lost| **lost).count() as f64;
            let both = lost.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
            // 4000 bursts at the shortest gap, each mean good to 1.6 %; three times that, and more.
            assert!((count / PACKETS as f64 - 0.2).abs() < 0.02, "{gap}: {count}");
            let expected = 0.2 + 0.8 * libm::exp(-(gap as f64) / 16.0);
            assert!((both / count - expected).abs() < 0.02, "{gap}: {}", both / count);
        }
    }
}
