/** Preset scenarios. */

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
  /** One or two sentences on what to observe. */
  about: string;
  toml: string;
  /** Start time of the packet view, at an interesting moment, in seconds. */
  at: number;
}

const IDEAS = "Ideas";
const TODAY = "Today";
const PAPERS = "Papers";

export const PRESETS: readonly Preset[] = [
  { name: "self-clocking", title: "Self-clocking", group: IDEAS, toml: selfClocking, at: 0,
    about: "Two segments leave together; the bottleneck spaces them, and the ACKs bring its pace back. Play the packets: each ACK releases the next segments." },
  { name: "sawtooth", title: "Sawtooth", group: IDEAS, toml: sawtooth, at: 0,
    about: "Reno adds a segment per round trip and halves at a loss. With one BDP of buffer the link never idles; drag the buffer to half a BDP and it does." },
  { name: "bufferbloat", title: "Bufferbloat", group: IDEAS, toml: bufferbloat, at: 5,
    about: "The upload fills a deep buffer and the call waits behind it. Drag the buffer, or choose fq-codel, and watch the call's RTT." },
  { name: "rtt-unfairness", title: "RTT unfairness", group: IDEAS, toml: rttUnfairness, at: 1,
    about: "Reno grows by one segment per round trip, so the near flow takes most of the link. CUBIC grows with time: choose it for all three." },
  { name: "cubic-bbr", title: "CUBIC against BBRv3", group: TODAY, toml: cubicBbr, at: 0,
    about: "CUBIC fills the buffer until it overflows; BBRv3 follows a model of the path. Which gets more depends on the buffer: drag it from 0.2 to 5 BDP." },
  { name: "l4s", title: "L4S: Prague over DualPI2", group: TODAY, toml: l4s, at: 10,
    about: "Prague's packets have their own queue, which marks within a millisecond; CUBIC waits in the other, and coupling divides the link between them." },
  { name: "lte", title: "LTE trace", group: TODAY, toml: lte, at: 4,
    about: "The cell's rate varies faster than a window can follow: the queue fills whenever it falls. Compare CUBIC with BBRv3." },
  { name: "packet-pair", title: "Packet pair", group: PAPERS, toml: packetPair, at: 0,
    about: "Slow start in pairs: the receiver measures and reports the interval of each pair, at which the rest of the window is spaced. Choose reno for the curve of figure 8." },
  { name: "swift-start", title: "Swift Start", group: PAPERS, toml: swiftStart, at: 0,
    about: "A marked pair reveals the capacity in the first round trip; the matching window is spread over the next. Choose slow-start or swift-start for the other curves." },
  { name: "inline-measurement", title: "Inline measurement (ICIM)", group: PAPERS, toml: inlineMeasurement, at: 29.9,
    about: "The window follows bandwidth measured with the connection's own segments: at 30 s UDP frees 100 Mbit/s, which the flow takes without loss." },
  { name: "altcp", title: "ALTCP", group: PAPERS, toml: altcp, at: 1,
    about: "Windows of ten thousand segments: layers speed up the growth on a long path. Reno needs half an hour per sawtooth here." },
  { name: "ficcrd", title: "FICCRD", group: PAPERS, toml: ficcrd, at: 0.5,
    about: "Edge routers rewrite the window in ACKs, so ten unmodified senders keep a short queue. Delete the [[router]] table for tail drop." },
];

export const presetNamed = (name: string): Preset | undefined => PRESETS.find((preset) => preset.name === name);
