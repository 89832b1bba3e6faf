//! A transport: CUBIC with HyStart++ on a path of 100 ms, with a loss after six round trips.

use selfclock_congestion::{
    Acknowledged, Bytes, Duration, LossDetected, RecoveryEnded, Selection, Setup, Time,
};

fn main() {
    let mss = Bytes(1448);
    let setup = Setup { mss, initial_window: 10.0, ..Setup::default() };
    let selection = Selection::new("hystart++", "cubic").expect("both are built in");
    assert_eq!(selection.needs().count(), 0, "a window and ACKs are all that it needs");
    let mut control = selection.controller(setup);
    let (mut now, mut acknowledged, rtt) = (Time::ZERO, 0, Duration::from_milliseconds(100));
    for round in 0..12 {
        now += rtt;
        let window = control.decision().window.get();
        if round == 6 {
            control.on_loss(&LossDetected::new(now, Bytes(window)));
            control.on_recovery_ended(&RecoveryEnded::new(now + rtt));
        }
        for _ in 0..window / mss.get() {
            acknowledged += mss.get();
            let mut ack = Acknowledged::new(now, mss);
            (ack.acknowledged_total, ack.sent_total) = (Bytes(acknowledged), Bytes(acknowledged + window));
            (ack.rtt, ack.smoothed_rtt, ack.minimum_rtt) = (Some(rtt), Some(rtt), Some(rtt));
            ack.in_flight = Bytes(window);
            control.on_ack(&ack);
        }
        println!(
            "{:4.1} s: {:7} B may be in flight, {}",
            now.seconds(),
            control.decision().window.get(),
            control.snapshot().phase.name()
        );
    }
}
