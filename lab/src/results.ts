/** The tables below the plots, and a summary line of the run. */

import { element } from "./dom.ts";
import type { Run } from "./engine.ts";
import { fairness } from "./fairness.ts";
import { linkColour, looks } from "./palette.ts";
import { FLOW_HEADINGS as FLOW, LINK_HEADINGS as LINK, NOT_OF_UDP } from "./protocol.gen.ts";
import type { FlowSummary, LinkSummary, Summary } from "./protocol.ts";
import { queuesOf } from "./series.ts";
import { isDark } from "./theme.ts";
import { count, digits, percent, rateText, timeText } from "./units.ts";

/** Largest number of rows in the table of flows. */
const MOST_ROWS = 24;
const time = (value: number | null): string => (value === null ? "–" : timeText(value));

const counted = (flow: FlowSummary, total: "retransmitted_segments" | "timeouts"): string =>
  flow.algorithm === "udp" && NOT_OF_UDP.has(total) ? "–" : count(flow[total]);

/** Writes the tables of a run. */
export function showSummary(place: HTMLElement, run: Run): void {
  place.replaceChildren(flowTable(run), linkTable(run));
}

function flowTable({ scenario, summary }: Run): HTMLElement {
  const colours = looks(scenario.flows.map((flow) => flow.algorithm), isDark());
  const head = ["Flow", FLOW.goodput_bps, "Share", FLOW.rtt_mean_s, FLOW.rtt_p95_s, FLOW.retransmitted_segments, FLOW.timeouts];
  const whole = summary.flows.reduce((sum, flow) => sum + flow.goodput_bps, 0);
  const rows = summary.flows.slice(0, MOST_ROWS).map((flow, index) => {
    const mark = element("i");
    mark.style.background = colours[index]?.colour ?? "";
    const name = element("td", {}, mark, flow.name === flow.algorithm ? flow.name : `${flow.name} (${flow.algorithm})`);
    const cells = [rateText(flow.goodput_bps), whole > 0 ? percent(flow.goodput_bps / whole) : "–", time(flow.rtt_mean_s), time(flow.rtt_p95_s),
      counted(flow, "retransmitted_segments"), counted(flow, "timeouts")];
    return element("tr", {}, name, ...cells.map((text) => element("td", {}, text)));
  });
  const table = element("table", { class: "flows" }, row(head), ...rows);
  if (summary.flows.length > MOST_ROWS) table.append(element("caption", {}, `The first ${MOST_ROWS} of ${count(summary.flows.length)} flows.`));
  return table;
}

function linkTable({ scenario, columns, summary }: Run): HTMLElement {
  const head = ["Link", LINK.utilization, LINK.queue_mean_packets, LINK.queue_max_packets, LINK.queue_mean_s, LINK.drops, LINK.ce_marks];
  const rows = queuesOf(scenario, columns).map((index) => {
    const link: LinkSummary | undefined = summary.links[index];
    const mark = element("i");
    mark.style.background = linkColour(index, isDark());
    const cells = link ? [percent(link.utilization), `${digits(link.queue_mean_packets)} packets`, count(link.queue_max_packets), timeText(link.queue_mean_s),
      count(link.drops), count(link.ce_marks)] : [];
    return element("tr", {}, element("td", {}, mark, link?.name ?? ""), ...cells.map((text) => element("td", {}, text)));
  });
  return element("table", { class: "links" }, row(head), ...rows);
}

const row = (head: readonly string[]): HTMLElement => element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)));

/** The amount of work, and the speed. */
export function account(summary: Summary, wall_ms: number): string {
  const tcp = summary.flows.filter((flow) => flow.algorithm !== "udp").map((flow) => flow.goodput_bps);
  const fair = tcp.length > 1 ? `; Jain's fairness ${digits(fairness(tcp))}` : "";
  return `${timeText(summary.simulated_s)} simulated in ${digits(wall_ms, 2)} ms: ${count(summary.packet_hops)} packet-hops${fair}`;
}
