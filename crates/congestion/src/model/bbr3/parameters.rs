//! Parameters of BBR, each with its source.

use crate::parameters;
use crate::units::Duration;

parameters! {
    /// Parameters of BBR.
    Parameters {
        /// Pacing gain of Startup.
        startup_pacing_gain: f64 = 2.77, shown "2.77", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.5: 4 ln 2";
        /// Pacing gain of Drain.
        drain_pacing_gain: f64 = 0.5, shown "0.5", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 2.5 (1/2.77 before BBRv3)";
        /// Pacing gain of ProbeBW_DOWN.
        down_pacing_gain: f64 = 0.9, shown "0.9", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Pacing gain of ProbeBW_UP.
        up_pacing_gain: f64 = 1.25, shown "1.25", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Fraction of the pacing rate that is left unused.
        pacing_margin: f64 = 0.01, shown "0.01", unit "", range (0.0, 0.5),
            source "draft-ietf-ccwg-bbr-06 section 2.5: PacingMarginPercent of 1";
        /// Window in bandwidth-delay products, in every phase that does not say otherwise.
        cwnd_gain: f64 = 2.0, shown "2", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.6: DefaultCwndGain";
        /// Window in bandwidth-delay products in ProbeBW_UP.
        up_cwnd_gain: f64 = 2.25, shown "2.25", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.6.1";
        /// Window in bandwidth-delay products in ProbeRTT.
        probe_rtt_cwnd_gain: f64 = 0.5, shown "0.5", unit "", range (0.05, 1.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTCwndGain";
        /// Shortest time that ProbeRTT holds the window low.
        probe_rtt_duration: Duration = Duration::from_milliseconds(200), shown "200 ms", unit "s", range (0.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTDuration";
        /// Time without a lower round-trip time after which ProbeRTT begins.
        probe_rtt_interval: Duration = Duration::from_milliseconds(5000), shown "5 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.2: ProbeRTTInterval";
        /// Time over which the smallest round-trip time is remembered.
        min_rtt_window: Duration = Duration::from_milliseconds(10_000), shown "10 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 2.16.1: MinRTTFilterLen";
        /// Loss rate over a round trip that is too high when probing for bandwidth.
        loss_threshold: f64 = 0.02, shown "0.02", unit "", range (0.0, 0.5),
            source "draft-ietf-ccwg-bbr-06 section 2.8: LossThresh";
        /// Smallest factor by which a round trip with a loss lowers the short-term model.
        beta: f64 = 0.7, shown "0.7", unit "", range (0.1, 0.99),
            source "draft-ietf-ccwg-bbr-06 section 2.8: Beta";
        /// Fraction of inflight_longterm that is left to other flows while cruising.
        headroom: f64 = 0.15, shown "0.15", unit "", range (0.0, 0.9),
            source "draft-ietf-ccwg-bbr-06 section 2.8: Headroom";
        /// Growth of the delivery rate in a round trip below which the path may be full.
        full_bandwidth_growth: f64 = 1.25, shown "1.25", unit "", range (1.01, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Round trips without such growth after which the path is full.
        full_bandwidth_rounds: f64 = 3.0, shown "3", unit "round trips", range (1.0, 100.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Losses in a round trip that can end Startup. The draft counts ranges that are apart;
        /// here the acknowledgements that reveal a loss are counted, as in Linux.
        startup_losses: f64 = 6.0, shown "6", unit "losses", range (1.0, 1e6),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.3: BBRStartupFullLossCnt";
        /// Shortest wait between two probes for bandwidth; up to a second more is drawn.
        probe_wait: Duration = Duration::from_milliseconds(2000), shown "2 s", unit "s", range (0.1, 3600.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.3.8";
        /// Most round trips between two probes for bandwidth, so that a Reno flow of the same rate
        /// keeps up.
        reno_rounds: f64 = 63.0, shown "63", unit "round trips", range (1.0, 1e6),
            source "draft-ietf-ccwg-bbr-06 section 5.3.3.8";
    }
}
