// The explorer in a notebook: what anywidget loads.
export default {
  render({ model, el }) {
    const root = document.createElement("div");
    root.tabIndex = -1;
    // JupyterLab has keys of its own.
    root.dataset.lmSuppressShortcuts = "true";
    el.classList.add("explorer-widget");
    el.append(root);
    explorer(root, JSON.parse(model.get("data")), FUNCTIONS, { isPage: false });
  },
};
