// Elements of Block Kit in the form of Discord's components, which the page has controls for.

const TYPE = { BUTTON: 2, SELECT: 3, TEXT: 4, USERS: 5, CHANNELS: 8, LABEL: 18 };
const STYLES = { primary: 1, danger: 4 };
const PARAGRAPH = 2;
const SELECTS = /^(?:multi_)?(static|external)_select$|^(?:radio_buttons|checkboxes|overflow)$/;

/** A button, menu or field. Null if the page has no control for it. */
export function toComponent(element) {
  const shared = { custom_id: element.action_id, placeholder: element.placeholder?.text };
  const most = /^multi_|^checkboxes$/.test(element.type) ? (element.max_selected_items ?? 25) : 1;
  if (element.type === "button")
    return {
      ...shared,
      type: TYPE.BUTTON,
      style: element.url ? 5 : (STYLES[element.style] ?? 2),
      label: element.text?.text,
      url: element.url,
      emoji: null,
    };
  if (SELECTS.test(element.type))
    return { ...shared, type: TYPE.SELECT, max_values: most, options: listOptions(element) };
  if (/^(?:multi_)?users_select$/.test(element.type)) return { ...shared, type: TYPE.USERS, max_values: most };
  if (/^(?:multi_)?(?:channels|conversations)_select$/.test(element.type))
    return { ...shared, type: TYPE.CHANNELS, max_values: most };
  const inputs = { plain_text_input: "text", datepicker: "date", timepicker: "time", number_input: "number", email_text_input: "email", url_text_input: "url" };
  if (!inputs[element.type]) return null;
  return {
    ...shared,
    type: TYPE.TEXT,
    style: element.multiline ? PARAGRAPH : 1,
    kind: inputs[element.type],
    value: element.initial_value ?? element.initial_date ?? element.initial_time ?? "",
    min_length: element.min_length,
    max_length: element.max_length,
  };
}

function listOptions(element) {
  const groups = (element.option_groups ?? []).flatMap((group) => group.options);
  const first = [element.initial_option, ...(element.initial_options ?? [])].filter(Boolean).map(({ value }) => value);
  return [...(element.options ?? []), ...groups].map((option) => ({
    label: option.text.text,
    value: option.value,
    description: option.description?.text,
    default: first.includes(option.value),
  }));
}

/** A modal: fields with labels, and other blocks between them. */
export function toFields(view) {
  const components = (view.blocks ?? []).map((block) => {
    if (block.type !== "input") return { layout: [block] };
    const required = !block.optional;
    const component = toComponent(block.element);
    const texts = { label: block.label?.text, hint: block.hint?.text };
    return { type: TYPE.LABEL, block: block.block_id, ...texts, component: { ...component, required } };
  });
  return {
    view: view.id,
    title: view.title?.text ?? "",
    action: view.submit?.text ?? null,
    cancel: view.close?.text ?? "Cancel",
    components,
  };
}
