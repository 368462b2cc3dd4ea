package engine

// helpText is what %help shows.
const helpText = "### Cells\n" + `
Cells are Go. What a cell declares lives on: variables (also by ` + "`:=`" + `), functions, types, constants. A function that is declared again is
the new one for its old callers too. Packages need not be imported. The value of the last expression is shown. ` + "`must(f())`" + ` and
` + "`check(err)`" + ` end the cell on an error; ` + "`ctx`" + ` ends when you stop the cell.

| command | what it does |
| --- | --- |
| ` + "`!command`, `!*command`" + ` | runs a shell command, in the folder of the cells' go.mod with a star |
| ` + "`%% [args]`, `%main`, `%args`" + ` | sets the arguments of the program; %% with arguments parses them as flags |
| ` + "`%exec f [args]`" + ` | calls f after the cell |
| ` + "`%env NAME VALUE`, `%cd [folder]`" + ` | sets a variable of the environment, changes the folder |
| ` + "`%vars`, `%remove name`" + ` | lists what is declared, variables with their sizes; forgets a name |
| ` + "`%reset [go.mod]`" + ` | forgets everything, or only the modules that cells have fetched |
| ` + "`%handover`" + ` | takes the module as it is now, also without a learner that cannot come along |
| ` + "`%with_inputs`, `%with_password`" + ` | asks for a line that the next shell command reads |
| ` + "`%%writefile [-a] file`, `%%bash`, `%%sh`, `%%script command`" + ` | at the top of a cell that is not Go |
`
