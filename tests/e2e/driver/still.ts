// Runs in the page: replaces everything that differs between runs (times, durations, random names, folders) with fixed text.

/** Source text for `initScript`. It reacts to changes of the page, so that no intermediate state is visible. */
export const stillScript = `(() => {
  const same = (text) => text
    .replace(/\\/tmp\\/(?:tc-[A-Za-z0-9]+\\/)?tce-[A-Za-z0-9]+/g, '/tmp/tce')
    .replace(/\\b(ses|trn|msg|apr|art|cal|call|pck|pack|grt|evt|chk)_[A-Za-z0-9]+/g, '$1_x')
    .replace(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:1')
    .replace(/\\b\\d{1,2}\\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mai|Okt|Dez)[a-z]*\\.? \\d{4}/g, '1 Jan 2026')
    .replace(/\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b(?! \\d{4})/g, '1 Jan')
    .replace(/\\b\\d\\d:\\d\\d(?::\\d\\d)?\\b/g, '00:00')
    .replace(/(?:<\\s?)?\\b\\d+(?:[.,]\\d+)?\\s?(?:ms|s|min)\\b(?: \\d+\\ss)?/g, '1\\u00a0s')
    .replace(/\\b\\d+(?:[.,]\\d+)?k?\\s(tokens?|Tokens?)\\b/g, '9\\u00a0$1')
    .replace(/\\b\\d+(?:[.,]\\d+)?\\s(kB|MB|GB)\\b/g, '9\\u00a0$1');
  const still = (node) => {
    if (node.nodeType === 3) {
      const text = same(node.nodeValue);
      if (text !== node.nodeValue) node.nodeValue = text;
    } else for (const child of node.childNodes) still(child);
  };
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'characterData') still(change.target);
      else for (const node of change.addedNodes) still(node);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
})()`;
