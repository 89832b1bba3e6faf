//! A spurious loss or timeout leaves every algorithm as if nothing had happened: RFC 4015 and Linux
//! (`tcp_undo_cwnd_reduction`) for windows, draft-ietf-ccwg-bbr for BBR.

use selfclock_congestion::registry::{ENTRIES, Selection};
use selfclock_congestion::{
    Acknowledged, Bytes, Controller, DuplicateAck, Duration, LossDetected, RateSample, RecoveryEnded, Setup,
    SpuriousLoss, Time, Timeout,
};

const MSS: u64 = 1000;

/// A connection of 100 ms whose window is always full.
struct Connection {
    control: Controller,
    now: Time,
    delivered: u64,
}

impl Connection {
    fn new(name: &str) -> Self {
        let setup = Setup { mss: Bytes(MSS), receive_window: Bytes(1 << 40), ..Setup::default() };
        let control = Selection::from_label(name).expect("listed").controller(setup);
        Self { control, now: Time::ZERO, delivered: 0 }
    }

    fn window(&self) -> f64 {
        self.control.snapshot().cwnd_segments
    }

    fn acknowledge(&mut self, recovering: bool) {
        self.delivered += MSS;
        let mut event = Acknowledged::new(self.now, Bytes(MSS));
        event.acknowledged_total = Bytes(self.delivered);
        event.sent_total = Bytes(self.delivered) + self.control.window();
        event.in_flight = self.control.window();
        let rtt = Duration::from_milliseconds(100);
        (event.rtt, event.smoothed_rtt, event.minimum_rtt) = (Some(rtt), Some(rtt), Some(rtt));
        event.window_limited = true;
        event.recovering = recovering;
        event.rate = Some(RateSample::default());
        self.control.on_ack(&event);
    }

    fn round(&mut self) {
        self.now += Duration::from_milliseconds(100);
        for _ in 0..(self.control.window().get() / MSS).clamp(1, 300) {
            self.acknowledge(false);
        }
    }
}

/// The late sign: D-SACK comes after the recovery.
#[test]
fn every_algorithm_takes_its_response_back() {
    for entry in ENTRIES {
        let name = entry.name;
        for (timeout, rounds, over) in
            [(false, 3, false), (false, 12, false), (false, 12, true), (true, 3, false), (true, 12, false)]
        {
            let mut connection = Connection::new(name);
            for _ in 0..rounds {
                connection.round();
            }
            let before = connection.window();
            let (now, flight) = (connection.now, connection.control.window());
            if timeout {
                connection.control.on_timeout(&Timeout::new(now, flight));
                assert_eq!(connection.window(), 1.0, "{name}");
            } else {
                connection.control.on_duplicate_ack(&DuplicateAck::new(now, 1));
                connection.control.on_loss(&LossDetected::new(now, flight));
                connection.acknowledge(true);
            }
            if over {
                connection.control.on_recovery_ended(&RecoveryEnded::new(connection.now));
            }
            connection.control.on_spurious_loss(&SpuriousLoss::new(connection.now));
            let restored = connection.window();
            assert!(restored >= before, "{name}, {timeout}, {rounds}: {restored} of {before}");
            for _ in 0..40 {
                connection.round();
            }
            // Models of the delivery rate have no measured one here.
            let later = connection.window();
            let measures = connection.control.wants_rate_samples();
            assert!(measures || later >= restored, "{name}, {timeout}, {rounds}: {later} after {restored}");
        }
    }
}
