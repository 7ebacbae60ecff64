// In every page of the documentation: full-text search by Pagefind, fields that filter long tables, titles of columns in each cell.
(() => {
  const root = new URL('..', document.currentScript.src).href;
  const leastRows = 15;

  /** Hides the rows that lack one of the words. */
  function addFilter(table) {
    const rows = [...table.querySelectorAll('tbody tr')];
    const field = document.createElement('input');
    const count = document.createElement('p');
    field.type = 'search';
    field.className = 'table-filter';
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute('aria-label', 'Filter the rows of this table');
    count.setAttribute('role', 'status');
    count.hidden = true;
    field.addEventListener('input', () => {
      const words = field.value.toLowerCase().split(/\s+/);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.hidden = field.value === '';
      count.textContent = `${shown} of ${rows.length} rows`;
    });
    table.before(field, count);
  }

  /** Repeats the title of its column in each cell, for narrow screens. */
  function addTitles(table) {
    const titles = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent);
    for (const row of table.querySelectorAll('tbody tr')) {
      for (const [at, cell] of [...row.children].entries()) {
        if (titles[at]) cell.dataset.title = titles[at];
      }
    }
  }

  function addSearch() {
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    style.href = `${root}pagefind/pagefind-ui.css`;
    const script = document.createElement('script');
    script.src = `${root}pagefind/pagefind-ui.js`;
    script.onload = () => {
      const box = document.createElement('div');
      box.className = 'site-search';
      box.setAttribute('role', 'search');
      const page = document.querySelector('.col-content') ?? document.querySelector('.contents');
      page.prepend(box);
      new PagefindUI({
        element: box,
        baseUrl: root,
        bundlePath: `${root}pagefind/`,
        showImages: false,
        showSubResults: true,
        translations: { placeholder: 'Search guides and reference' },
      });
    };
    document.head.append(style, script);
  }

  function start() {
    for (const table of document.querySelectorAll('.tsd-typography table')) {
      addTitles(table);
      if (table.querySelectorAll('tbody tr').length >= leastRows) addFilter(table);
    }
    addSearch();
  }

  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
