// CPU time of two CUBIC flows on 50 Mbit/s for 60 s, in node: `node tests/speed.mjs` in lab/, after `make lab`.
import { readFile } from "node:fs/promises";

const TOML = `
schema = 1
duration = "60 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "50 Mbps", delay = "20 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
congestion_control = "cubic"
count = 2
`;
const RUNS = 15;

const path = process.argv[2] ?? "core/selfclock.wasm";
const { exports } = new WebAssembly.Instance(await WebAssembly.compile(await readFile(path)), {});
function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = exports.input(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  exports.call();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.json(), exports.json_length())));
}

const times = [];
let hops = 0;
for (let index = 0; index < RUNS; index++) {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  const { run } = ask({ open: { scenario: { toml: TOML }, limits: { most_packet_hops: 1e9, packet_hops_per_s: 5e6 } } });
  while (!ask({ advance: { run, events: 1e6 } }).finished);
  hops = ask({ finish: { run } }).summary.packet_hops;
  const { user, system } = process.cpuUsage(cpu);
  times.push([(user + system) / 1000, performance.now() - wall]);
}
times.sort(([a], [b]) => a - b);
const [[cpu], [median]] = [times[0], times[RUNS >> 1]];
console.log(`${hops} packet-hops: least ${cpu.toFixed(1)} ms of CPU, median ${median.toFixed(1)} ms; ${(hops / cpu / 1000).toFixed(1)} million packet-hops a second`);
