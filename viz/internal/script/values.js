// The numbers of a figure, as viz/columns.go writes them.

// plainNumbers and texts are kinds of columns; any other kind is a number of decimals.
const plainNumbers = -1, texts = -2;

// rowsOf turns columns, each a list of its head, its kind and its cells, into rows of cells.
const rowsOf = columns => {
  const kinds = columns.map(c => c[1]), rows = (columns[0] ?? []).slice(2).map((_, i) => columns.map(c => c[i + 2]));
  rows.forEach((row, i) => kinds.forEach((kind, k) => {
    if (kind === texts && row[k] === 0) row[k] = rows[i - 1][k]; // it repeats the text above
  }));
  const sums = new Map(); // of the integers so far, for rows with the same texts
  for (const row of rows) {
    const name = JSON.stringify(row.filter((_, k) => kinds[k] === texts)), sum = sums.get(name) ?? [];
    sums.set(name, sum);
    kinds.forEach((kind, k) => {
      if (kind < 0 || row[k] === null) return;
      sum[k] = row[k] + (sum[k] ?? 0);
      row[k] = sum[k] / 10 ** kind;
    });
  }
  return rows;
};

// numbersOf unpacks the numbers of a figure; those of a slider's frames are there already.
const numbersOf = async figure => figure.values ?? unpack(figure.dataset.values).json();
