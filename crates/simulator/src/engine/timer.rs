//! Lazy timers: postponing a deadline costs nothing.

use super::{EventQueue, Target};
use selfclock_congestion::units::Time;

/// A timer that can be set, moved and cancelled at any time and has at most one live entry in the
/// event queue.
///
/// A retransmission timer moves with every ACK and hardly ever fires. So a later deadline is only
/// stored; when the entry in the queue comes up early, it is requeued with the current deadline.
/// Its place among events at the same time is its owner, so laziness does not affect their order.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    deadline: Time,
    /// Time of the live entry in the queue; entries at other times are stale and ignored.
    entry: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Self { deadline: Time::NEVER, entry: Time::NEVER }
    }
}

impl Timer {
    /// Sets the deadline, whatever was set before.
    #[inline]
    pub fn set(&mut self, events: &mut EventQueue, deadline: Time, target: Target) {
        self.deadline = deadline;
        if deadline < self.entry {
            self.entry = deadline;
            events.push(deadline, target);
        }
    }

    /// Whether setting this time only stores it.
    #[inline]
    pub fn is_quiet_at(&self, deadline: Time) -> bool {
        deadline >= self.entry
    }

    /// Like `set`, if the entry is known to be early enough.
    pub fn set_quietly(&mut self, deadline: Time) {
        debug_assert!(self.is_quiet_at(deadline));
        self.deadline = deadline;
    }

    /// Does not fire.
    #[inline]
    pub fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Time of the deadline; [`Time::NEVER`] if not set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// It is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Handles an entry of this timer (removed from the queue). True if the timer fires now; it is
    /// then no longer set.
    #[inline]
    pub fn due(&mut self, events: &mut EventQueue, now: Time, target: Target) -> bool {
        if self.entry != now {
            return false;
        }
        self.entry = Time::NEVER;
        if self.deadline == now {
            self.deadline = Time::NEVER;
            return true;
        }
        if self.deadline != Time::NEVER {
            self.entry = self.deadline;
            events.push(self.deadline, target);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TARGET: Target = Target::Retransmission(0);

    fn at(picoseconds: u64) -> Time {
        Time::from_picoseconds(picoseconds)
    }

    fn firings(timer: &mut Timer, events: &mut EventQueue, until: u64) -> Vec<u64> {
        let mut fired = Vec::new();
        while let Some(event) = events.peek()
            && event.time <= at(until)
        {
            events.pop();
            if timer.due(events, event.time, TARGET) {
                fired.push(event.time.picoseconds());
            }
        }
        fired
    }

    #[test]
    fn moving_later_leaves_one_entry() {
        let (mut timer, mut events) = (Timer::default(), EventQueue::default());
        for deadline in 10..1000 {
            timer.set(&mut events, at(deadline), TARGET);
        }
        assert_eq!(events.len(), 1);
        assert_eq!(firings(&mut timer, &mut events, 2000), [999]);
    }

    #[test]
    fn moving_earlier_and_cancelling() {
        let (mut timer, mut events) = (Timer::default(), EventQueue::default());
        timer.set(&mut events, at(100), TARGET);
        timer.set(&mut events, at(50), TARGET);
        assert_eq!(firings(&mut timer, &mut events, 1000), [50]);
        timer.set(&mut events, at(2000), TARGET);
        timer.cancel();
        assert!(!timer.is_set());
        assert!(firings(&mut timer, &mut events, 3000).is_empty());
    }

    proptest! {
        /// Against an eager timer: it fires exactly at the last deadline, if time reaches that
        /// before it is moved.
        #[test]
        fn fires_as_an_eager_timer(steps in proptest::collection::vec((1_u64..20, proptest::option::of(1_u64..60)), 1..100)) {
            let (mut timer, mut events) = (Timer::default(), EventQueue::default());
            let (mut now, mut deadline) = (0, None::<u64>);
            for (wait, set) in steps {
                let until = now + wait;
                let expected: Vec<u64> = deadline.filter(|&deadline| deadline <= until).into_iter().collect();
                prop_assert_eq!(firings(&mut timer, &mut events, until), expected.clone());
                now = until;
                match set {
                    Some(span) => { deadline = Some(now + span); timer.set(&mut events, at(now + span), TARGET); }
                    None => { deadline = None; timer.cancel(); }
                }
            }
        }
    }
}
