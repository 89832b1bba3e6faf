"use strict";
// Tables that sort, light and dark, and the charts, each drawn when it comes into view. Nothing is fetched.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("selfclock-theme"); } catch { /* A file may have no storage. */ }
  const dark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";

  // Packed texts: gzip in Base64.
  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  };
  const unpack = (text) => unpacked(text).text();
  // A document with arrays of numbers behind it: all first bytes of an array come first, then all second ones.
  const unpackDocument = async (text) => {
    const buffer = await unpacked(text).arrayBuffer();
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
  window.selfclock = { unpack, unpackDocument };
  let library = null;
  const plotly = () => library ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await unpack(document.getElementById("library").textContent);
    document.head.append(script);
    return window.Plotly;
  })();

  // Greys are turned over in the dark; colours mean algorithms and stay.
  const turned = (value) => {
    if (typeof value === "string" && /^#[0-9a-f]{6}$/.test(value)) {
      const parts = [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
      if (Math.max(...parts) - Math.min(...parts) > 12) return value;
      const part = Math.round(235 - parts[0] * 0.8).toString(16).padStart(2, "0");
      return `#${part}${part}${part}`;
    }
    if (Array.isArray(value)) return value.map(turned);
    if (value && typeof value === "object" && !ArrayBuffer.isView(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, turned(inner)]));
    return value;
  };
  const dressed = ({ data, layout }) => {
    const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
    // A key that is there but undefined is more than Plotly can bear.
    const drawn = (trace) => Object.fromEntries(Object.entries(trace).map(([key, value]) =>
      [key, key === "line" || key === "marker" ? turned(value) : value]));
    const traces = dark() ? data.map(drawn) : data;
    const page = { ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: 12 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--text") },
      hoverlabel: { bgcolor: colour("--soft"), font: { color: colour("--text") } },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom" };
    if (dark()) for (const part of ["shapes", "annotations"]) page[part] = turned(layout[part] ?? []);
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key)))
      page[name] = { ...layout[name], gridcolor: colour("--grid"), linecolor: colour("--line"), spikecolor: colour("--text") };
    return [traces, page];
  };
  const draw = async (place) => {
    const Plotly = await plotly();
    place.chart ??= await unpackDocument(place.querySelector("script").textContent);
    const [data, layout] = dressed(place.chart);
    await Plotly.react(place.querySelector("div"), data, layout,
      { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] });
    place.dataset.drawn = "yes";
  };
  const attempt = (place) => draw(place).catch((error) => {
    place.querySelector("div").textContent = "This browser cannot draw the chart: it needs one of 2023 or later.";
    throw error;
  });
  const charts = [...document.querySelectorAll(".chart")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      watcher.unobserve(entry.target);
      attempt(entry.target);
    }
  }, { rootMargin: "400px" });

  const button = document.querySelector(".theme");
  const paint = () => {
    root.dataset.theme = dark() ? "dark" : "light";
    button.textContent = dark() ? "Light" : "Dark";
    charts.filter((place) => place.dataset.drawn).forEach(attempt);
  };
  button.addEventListener("click", () => {
    chosen = dark() ? "light" : "dark";
    try { localStorage.setItem("selfclock-theme", chosen); } catch { /* Not remembered, then. */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();
  charts.forEach((place) => watcher.observe(place));
  addEventListener("beforeprint", () => charts.filter((place) => !place.dataset.drawn).forEach(attempt));

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
