/** The scenarios to begin with. */

import altcp from "../presets/altcp.toml";
import bufferbloat from "../presets/bufferbloat.toml";
import cubicBbr from "../presets/cubic-bbr.toml";
import ficcrd from "../presets/ficcrd.toml";
import inlineMeasurement from "../presets/inline-measurement.toml";
import l4s from "../presets/l4s.toml";
import lte from "../presets/lte.toml";
import packetPair from "../presets/packet-pair.toml";
import rttUnfairness from "../presets/rtt-unfairness.toml";
import sawtooth from "../presets/sawtooth.toml";
import selfClocking from "../presets/self-clocking.toml";
import swiftStart from "../presets/swift-start.toml";

export interface Preset {
  /** In links: `#preset=NAME`. */
  name: string;
  title: string;
  group: string;
  /** What to look at, in a sentence or two. */
  about: string;
  toml: string;
  /** Seconds at which the packets begin to move: where there is something to see. */
  at: number;
}

const IDEAS = "Ideas";
const TODAY = "Today";
const PAPERS = "Papers";

export const PRESETS: readonly Preset[] = [
  { name: "self-clocking", title: "Self-clocking", group: IDEAS, toml: selfClocking, at: 0,
    about: "Two segments leave together; the bottleneck spaces them, and the ACKs bring its pace back. Play the packets: each ACK lets the next segments go." },
  { name: "sawtooth", title: "Sawtooth", group: IDEAS, toml: sawtooth, at: 0,
    about: "Reno adds a segment per round trip and halves at a loss. With one bandwidth-delay product of buffer the link never idles; drag the buffer to a half and it does." },
  { name: "bufferbloat", title: "Bufferbloat", group: IDEAS, toml: bufferbloat, at: 5,
    about: "The upload fills a deep buffer and the call waits behind it. Drag the buffer, or choose fq-codel, and watch the call's round-trip time." },
  { name: "rtt-unfairness", title: "RTT unfairness", group: IDEAS, toml: rttUnfairness, at: 1,
    about: "Reno grows once per round trip, so the near flow takes most of the link. CUBIC grows with time instead: choose it for all three." },
  { name: "cubic-bbr", title: "CUBIC against BBRv3", group: TODAY, toml: cubicBbr, at: 0,
    about: "CUBIC fills the buffer until it loses, BBRv3 keeps to a model of the path. Who gets more depends on the buffer: drag it from 0.2 to 5 BDP." },
  { name: "l4s", title: "L4S: Prague over DualPI2", group: TODAY, toml: l4s, at: 10,
    about: "Prague's packets have a queue of their own, which marks within a millisecond; CUBIC waits in the other, and the two are coupled to share the link." },
  { name: "lte", title: "LTE trace", group: TODAY, toml: lte, at: 4,
    about: "The cell's rate wanders faster than a window can follow: the queue fills whenever it falls. Compare CUBIC with BBRv3." },
  { name: "packet-pair", title: "Packet pair", group: PAPERS, toml: packetPair, at: 0,
    about: "Slow start in pairs: the receiver times each pair and reports the interval, and the rest of the window is spaced by it. Choose reno for the curve of figure 8." },
  { name: "swift-start", title: "Swift Start", group: PAPERS, toml: swiftStart, at: 0,
    about: "A marked pair tells the capacity in the first round trip; the window for it is spread over the next. Choose slow-start or swift-start for the other curves." },
  { name: "inline-measurement", title: "Inline measurement (ICIM)", group: PAPERS, toml: inlineMeasurement, at: 29.9,
    about: "The window follows what the connection measures with its own segments: at 30 s UDP gives 100 Mbit/s back, and they are taken without a loss." },
  { name: "altcp", title: "ALTCP", group: PAPERS, toml: altcp, at: 1,
    about: "Windows of ten thousand segments: layers make the growth faster on a long path. Reno needs half an hour for one tooth here." },
  { name: "ficcrd", title: "FICCRD", group: PAPERS, toml: ficcrd, at: 0.5,
    about: "Routers at the edge write the window into ACKs, so ten unmodified senders hold a short queue. Delete the [[router]] table for tail drop." },
];

export const presetNamed = (name: string): Preset | undefined => PRESETS.find((preset) => preset.name === name);
