(() => {
  const chosen = document.getElementById("tag");
  const all = document.getElementById("unfold");
  const cases = [...document.querySelectorAll(".case")];
  const filter = () => {
    for (const one of cases)
      one.hidden = chosen.value !== "" && !one.dataset.tags.split(" ").includes(chosen.value);
    for (const group of document.querySelectorAll(".group")) {
      const left = group.querySelectorAll(".case:not([hidden])").length;
      group.querySelector(".left").textContent = chosen.value ? left + " of " : "";
    }
  };
  document.querySelector(".filter").hidden = false;
  chosen.addEventListener("change", filter);
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-pressed") !== "true";
    all.setAttribute("aria-pressed", String(open));
    for (const one of cases) one.open = open;
  });
  for (const link of document.querySelectorAll("a[data-tag]"))
    link.addEventListener("click", () => {
      chosen.value = link.dataset.tag;
      if (chosen.selectedIndex < 0) chosen.value = "";
      filter();
    });
  filter();
})();
