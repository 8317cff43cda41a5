package effects

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// settingsOf says where a program keeps the settings that its own subcommand changes.
type settingsOf struct {
	// sub is the subcommand; looks are words and flags after it with which it only shows something, and sets
	// those without which it does. Only one of them is given.
	sub         string
	looks, sets map[string]bool
	// variable names the file of the user, which is otherwise user, below the home. project is the file of the
	// directory, if here says so.
	variable, user, project string
	here                    map[string]bool
}

// settings are the programs that change settings of their own, by their manuals. They read them at each call.
var settings = map[string]settingsOf{
	"npm":      {sub: "config", looks: words("get list ls"), variable: "NPM_CONFIG_USERCONFIG", user: ".npmrc", project: ".npmrc", here: words("--location=project -L=project")},
	"pnpm":     {sub: "config", looks: words("get list"), variable: "NPM_CONFIG_USERCONFIG", user: ".config/pnpm/rc", project: ".npmrc", here: words("--location=project")},
	"yarn":     {sub: "config", sets: words("set unset delete"), user: ".yarnrc", project: ".yarnrc.yml", here: words("set unset")},
	"pip":      {sub: "config", sets: words("set unset edit"), variable: "PIP_CONFIG_FILE", user: ".config/pip/pip.conf"},
	"pip3":     {sub: "config", sets: words("set unset edit"), variable: "PIP_CONFIG_FILE", user: ".config/pip/pip.conf"},
	"go":       {sub: "env", sets: words("-w -u"), variable: "GOENV", user: ".config/go/env"},
	"bundle":   {sub: "config", sets: words("set unset"), user: ".bundle/config", project: ".bundle/config", here: words("--local")},
	"composer": {sub: "config", looks: words("--list -l"), user: ".config/composer/config.json", project: "composer.json", here: words("")},
	"poetry":   {sub: "config", looks: words("--list"), user: ".config/pypoetry/config.toml", project: "poetry.toml", here: words("--local")},
	"conda":    {sub: "config", looks: words("--show --get --show-sources --describe --validate"), variable: "CONDARC", user: ".condarc"},
}

// setsOwn adds what a program writes that changes its own settings, and reports whether this is such a call.
func (f *finder) setsOwn(c *shell.Call) bool {
	s, ok := settings[c.Name]
	if !ok || !s.changes(c) {
		return false
	}
	f.acts++
	name, dir := s.user, f.c.Home
	local := slices.ContainsFunc(c.After(), func(w shell.Word) bool { return s.here[w.Value] })
	switch {
	case local || s.project != "" && len(s.here) == 0 && !c.Flag("-g", "--global"):
		name, dir = s.project, c.Dir
	case s.variable != "":
		if v := f.expand(shell.Word{Value: "$" + s.variable, Text: "$" + s.variable, Dynamic: true}); !v.Dynamic && v.Value != "" {
			name = v.Value
		}
	}
	f.path(shell.Word{Value: name}, dir, Update, false)
	if c.Name == "yarn" { // of its two generations one keeps them here and one in the home
		f.path(shell.Word{Value: s.user}, f.c.Home, Update, false)
	}
	return true
}

// changes reports whether a call changes settings.
func (s settingsOf) changes(c *shell.Call) bool {
	if c.Sub() != s.sub {
		return c.Name == "npm" && c.Sub() == "set"
	}
	after := c.After()
	has := func(all map[string]bool) bool {
		return slices.ContainsFunc(after, func(w shell.Word) bool { return all[w.Value] })
	}
	switch {
	case s.sets != nil:
		return has(s.sets)
	case has(s.looks):
		return false
	}
	if c.Name == "npm" || c.Name == "pnpm" {
		return len(after) > 0
	}
	// composer config KEY shows it, composer config KEY VALUE sets it.
	return len(shell.Operands(after, "")) > 1 || c.Flag("--unset") || c.Name == "conda" && len(after) > 0
}

// readsOwn adds the file with the user's settings to what a program reads that has some.
func (f *finder) readsOwn(c *shell.Call) {
	if s, ok := settings[c.Name]; ok && f.c.Home != "" {
		f.add(Thing{Kind: Path, Name: strings.TrimSuffix(f.c.Home, "/") + "/" + s.user, Access: Read, Sure: 0.6})
	}
}
