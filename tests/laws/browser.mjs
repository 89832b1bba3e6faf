// Runs the scenario on standard input in the simulator of the browser, and prints its summary.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const core = instance.exports;

function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = core.input(bytes.length) >>> 0;
  new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
  core.call();
  const from = core.json() >>> 0;
  const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(core.memory.buffer, from, core.json_length() >>> 0)));
  if (reply.refusal) throw new Error(JSON.stringify(reply.refusal));
  return reply;
}

const toml = readFileSync(0, "utf8");
const { run } = ask({ open: { scenario: { toml }, limits: { most_packet_hops: 1e12, packet_hops_per_s: 5e6 } } });
while (!ask({ advance: { run, events: 1_000_000 } }).finished);
process.stdout.write(JSON.stringify(ask({ finish: { run } }).summary));
