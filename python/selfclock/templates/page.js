"use strict";
// Sortable tables, light and dark themes, and charts, drawn from the top: those in view first, the others when idle. Nothing is fetched.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null, printing = false;
  try { chosen = localStorage.getItem("selfclock-theme"); } catch { /* A file may have no storage. */ }
  // Paper is white.
  const dark = () => !printing && (chosen ?? (system.matches ? "dark" : "light")) === "dark";
  // Width between the margins of A4 or Letter paper, in pixels.
  const SHEET = 680;

  // Packed texts: gzip in Base64.
  const unpacked = (text) => {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  };
  const unpack = (text) => unpacked(text).text();
  // A document followed by arrays of numbers, each stored as all first bytes, then all second bytes, and so on.
  const read = (buffer) => {
    const end = 4 + new DataView(buffer).getUint32(0, true);
    const known = new Map();
    const array = ({ array: at, length, bytes: size }) => {
      if (!known.has(at)) {
        const planes = new Uint8Array(buffer, end + at, length * size);
        const numbers = new Uint8Array(length * size);
        for (let plane = 0; plane < size; plane++)
          for (let number = 0; number < length; number++) numbers[number * size + plane] = planes[plane * length + number];
        known.set(at, size === 4 ? new Float32Array(numbers.buffer) : new Float64Array(numbers.buffer));
      }
      return known.get(at);
    };
    return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, end - 4)),
      (_, value) => value?.array !== undefined && value.bytes ? array(value) : value);
  };
  const unpackDocument = async (text) => read(await unpacked(text).arrayBuffer());
  // For scripts of parts: `onTheme` registers a function to call when the theme changes.
  const painters = [];
  window.selfclock = { unpack, unpackDocument, dark, onTheme: (paint) => painters.push(paint) };

  // Greys are inverted in dark mode; colours denote algorithms and stay.
  const grey = (parts) => Math.max(...parts) - Math.min(...parts) <= 12;
  const other = (part) => Math.round(235 - part * 0.8);
  const turned = (value) => {
    if (typeof value === "string") {
      if (/^#[0-9a-f]{6}$/.test(value)) {
        const parts = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
        return grey(parts) ? `#${other(parts[0]).toString(16).padStart(2, "0").repeat(3)}` : value;
      }
      const faint = /^rgba\((\d+),(\d+),(\d+),([\d.]+)\)$/.exec(value);
      const parts = faint?.slice(1, 4).map(Number);
      return faint && grey(parts) ? `rgba(${`${other(parts[0])},`.repeat(3)}${faint[4]})` : value;
    }
    if (Array.isArray(value)) return value.map(turned);
    if (value && typeof value === "object" && !ArrayBuffer.isView(value))
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, turned(inner)]));
    return value;
  };
  const dressed = ({ data, layout }) => {
    const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
    const looks = new Set(["line", "marker", "fillcolor"]);
    // Plotly fails on keys whose value is undefined.
    const drawn = (trace) => Object.fromEntries(Object.entries(trace).map(([key, value]) => [key, looks.has(key) ? turned(value) : value]));
    const traces = dark() ? data.map(drawn) : data;
    const page = { ...layout, paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"),
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: 12 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--text") },
      hoverlabel: { bgcolor: colour("--soft"), font: { color: colour("--text") }, namelength: -1 },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom" };
    if (printing) page.width = SHEET;
    if (dark()) Object.assign(page, { shapes: turned(layout.shapes ?? []), annotations: turned(layout.annotations ?? []) });
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key)))
      page[name] = { ...layout[name], gridcolor: colour("--grid"), linecolor: colour("--line"), spikecolor: colour("--text") };
    return [traces, page];
  };

  // All charts are unpacked early, so that they can be drawn at once for printing.
  const charts = [...document.querySelectorAll(".chart")];
  const packed = (place) => place.querySelector("script").textContent;
  const draw = (place) => {
    place.chart ??= read(place.buffer);
    const [data, layout] = dressed(place.chart);
    window.Plotly.react(place.querySelector("div"), data, layout,
      { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"], plotlyServerURL: "" });
    if (!place.dataset.drawn) follow(place.querySelector("div"));
    place.dataset.drawn = "yes";
  };
  const isOpen = (place) => !place.dataset.drawn && !place.refused;
  const attempt = (place) => {
    try { draw(place); } catch (error) { refuse(place); throw error; }
  };
  const refuse = (place) => {
    place.refused = true;
    place.querySelector("div").textContent = "This browser cannot draw the chart; use one from 2023 or later.";
  };
  // Columns side by side that show the same x have one cursor.
  const follow = (chart) => {
    const axes = () => Object.entries(chart._fullLayout).filter(([key]) => /^xaxis\d*$/.test(key)).map(([, axis]) => axis);
    if (axes().length < 2 || !axes().slice(1).every((axis) => axis.matches)) return;
    const cursors = axes().map(() => Object.assign(document.createElement("div"), { className: "cursor", hidden: true }));
    chart.append(...cursors);
    chart.on("plotly_hover", ({ xvals, points }) => {
      const under = points[0].xaxis;
      axes().forEach((axis, number) => {
        const at = axis._offset + axis.c2p(xvals?.[0] ?? points[0].x);
        cursors[number].hidden = axis === under || at < axis._offset || at > axis._offset + axis._length;
        Object.assign(cursors[number].style, { left: `${at}px`, top: `${chart._fullLayout._size.t}px`, height: `${chart._fullLayout._size.h}px` });
      });
    });
    chart.on("plotly_unhover", () => cursors.forEach((cursor) => { cursor.hidden = true; }));
  };
  // While a frame's document is open, the page counts as loading, so printing waits for the charts.
  const frame = Object.assign(document.createElement("iframe"), { hidden: true });
  document.body.append(frame);
  frame.contentDocument.open();
  const library = (async () => {
    const script = document.createElement("script");
    script.nonce = document.querySelector("script[nonce]").nonce;
    script.textContent = await unpack(document.getElementById("library").textContent);
    document.head.append(script);
  })();
  for (const place of charts)
    place.ready = (async () => { place.buffer = await unpacked(packed(place)).arrayBuffer(); await library; })();
  const ready = Promise.all([library, ...charts.map((place) => place.ready)])
    .catch((error) => { charts.forEach(refuse); throw error; }).finally(() => { frame.contentDocument.close(); frame.remove(); });
  // From the top, one per frame: the first figure is visible before the next is drawn.
  const inView = new Set();
  let waiting = false;
  const drawInView = () => {
    const next = charts.find((place) => inView.has(place) && isOpen(place));
    if (waiting || !next?.buffer || !window.Plotly) return;
    attempt(next);
    waiting = true;
    requestAnimationFrame(() => setTimeout(() => { waiting = false; drawInView(); }));
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((one) => one.isIntersecting)) {
      inView.add(target);
      target.ready.then(drawInView);
    }
  }, { rootMargin: "400px" });
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  const rest = () => {
    const next = charts.find(isOpen);
    if (next && !waiting) attempt(next);
    if (next) later(rest);
  };

  const button = document.querySelector(".theme");
  const paint = () => {
    root.dataset.theme = dark() ? "dark" : "light";
    button.textContent = dark() ? "Light" : "Dark";
    charts.filter((place) => place.dataset.drawn).forEach(attempt);
    for (const painter of painters) painter();
  };
  button.addEventListener("click", () => {
    chosen = dark() ? "light" : "dark";
    try { localStorage.setItem("selfclock-theme", chosen); } catch { /* Not remembered, then. */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();
  charts.forEach((place) => watcher.observe(place));
  ready.then(() => later(() => later(rest)));
  const print = (now) => {
    printing = now;
    paint();
    if (now) charts.filter((place) => place.buffer && !place.dataset.drawn).forEach(attempt);
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));

  const key = (cell) => {
    const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim();
    const number = parseFloat(text.replaceAll(",", "").replace("−", "-"));
    return Number.isNaN(number) ? text : number;
  };
  const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  for (const table of document.querySelectorAll("table:not(.matrix)")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) => {
      const name = document.createElement("button");
      name.append(...head.childNodes);
      head.append(name);
      name.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => order(key(a.cells[column]), key(b.cells[column])));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }
})();
