"use strict";
// The rows of the reproduced papers: filters them by a cell of the matrix, and shows their scenarios.
(() => {
  const filter = (section, cell) => {
    for (const row of section.querySelectorAll("tr[data-cell]")) row.hidden = cell !== null && row.dataset.cell !== cell;
    for (const group of section.querySelectorAll(".group"))
      group.hidden = [...group.querySelectorAll("tr[data-cell]")].every((row) => row.hidden);
    const bar = section.querySelector(".filter");
    bar.hidden = cell === null;
    if (cell !== null) {
      const shown = section.querySelector("tr[data-cell]:not([hidden])");
      const [all, some] = ["tr[data-cell]", "tr[data-cell]:not([hidden])"].map((rows) => section.querySelectorAll(rows).length);
      bar.querySelector("span").textContent =
        `${some} of ${all} rows: ${shown.closest(".group").dataset.name}, reproduced ${shown.dataset.outcome}.`;
    }
  };
  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    const target = hash === "" ? null : document.getElementById(hash);
    const section = target?.closest("section");
    if (!section) return;
    const row = document.querySelector(`tr[data-cell="${CSS.escape(hash)}"]`);
    if (row) filter(section, hash);
    else if (target.closest("[hidden]")) filter(section, null);
    // A link to a row shows all of it.
    const about = target.matches("tr") ? target.querySelector("details.row") : null;
    if (about) about.open = true;
    const folded = target.closest("details:not([open])");
    if (folded) folded.open = true;
    (row ? section.querySelector(".filter") : target).scrollIntoView();
  };
  addEventListener("hashchange", follow);
  // A second click on the same link does not change the address.
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => setTimeout(follow));
  for (const bar of document.querySelectorAll(".filter"))
    bar.querySelector("button").addEventListener("click", () => {
      filter(bar.closest("section"), null);
      history.replaceState(null, "", `#${bar.closest("section").id}`);
    });
  addEventListener("load", follow);

  const dialog = document.querySelector("dialog.scenario");
  const [names, files] = dialog.querySelectorAll("select");
  const download = dialog.querySelector("a");
  let texts = {};
  const fill = (select, values) => select.replaceChildren(...values.map((value) => new Option(value, value)));
  const show = () => {
    const text = texts[names.value][files.value];
    dialog.querySelector("code").textContent = text;
    URL.revokeObjectURL(download.href);
    download.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
    download.download = `${files.value}.toml`;
    download.textContent = `Save ${files.value}.toml`;
  };
  const choose = () => {
    fill(files, Object.keys(texts[names.value]));
    files.hidden = files.length === 1;
    show();
  };
  names.addEventListener("change", choose);
  files.addEventListener("change", show);
  dialog.querySelector("button").addEventListener("click", () => dialog.close());
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("button.scenario");
    if (!link) return;
    const packed = link.closest("section").querySelector("script.scenarios");
    texts = JSON.parse(await window.selfclock.unpack(packed.textContent));
    fill(names, Object.keys(texts));
    if (link.dataset.name) names.value = link.dataset.name;
    choose();
    dialog.showModal();
  });
})();
