package deploy

import (
	"encoding/json"
	"strings"
	"text/template"
)

// functions are those of the templates. Every value that is not a number goes through one of them, or has been
// checked to consist of harmless characters.
var functions = template.FuncMap{"shell": shell, "yaml": yaml, "argument": argument}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// yaml quotes a text as JSON does, which YAML reads alike.
func yaml(text string) (string, error) {
	out := new(strings.Builder)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// argument quotes an argument of a container. Kubernetes replaces $(NAME) in it, and takes $$ for a dollar sign.
func argument(text string) (string, error) { return yaml(strings.ReplaceAll(text, "$", "$$")) }
