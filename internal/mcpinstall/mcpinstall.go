// Package mcpinstall knows where the clients of the Model Context Protocol keep their servers, and
// adds Recount's entry there, or removes it. Everything else in these files is kept as it is,
// comments and layout included.
package mcpinstall

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/agenthook"
)

// Name is the name of the entry.
const Name = "recount"

// Client is a program that starts MCP servers.
type Client struct {
	Name string
	// user and project are the paths of its files, below the user's home directory and below the
	// project; project is "" if it has none.
	user, project string
	// config is the path below the user's folder of settings, in place of user.
	config string
	// members is the path of the object that has the servers; toml tells that the file is TOML.
	members []string
	toml    bool
	// typed adds "type": "stdio".
	typed bool
}

var clients = []Client{
	{Name: "claude-code", user: ".claude.json", project: ".mcp.json", members: []string{"mcpServers"}, typed: true},
	{Name: "codex", user: ".codex/config.toml", project: ".codex/config.toml", members: []string{"mcp_servers"}, toml: true},
	{Name: "cursor", user: ".cursor/mcp.json", project: ".cursor/mcp.json", members: []string{"mcpServers"}},
	{Name: "gemini", user: ".gemini/settings.json", project: ".gemini/settings.json", members: []string{"mcpServers"}},
	{Name: "vscode", config: "Code/User/mcp.json", project: ".vscode/mcp.json", members: []string{"servers"}, typed: true},
	{Name: "zed", user: ".config/zed/settings.json", project: ".zed/settings.json", members: []string{"context_servers"}},
	{Name: "windsurf", user: ".codeium/windsurf/mcp_config.json", members: []string{"mcpServers"}},
}

// Names returns the names of the clients.
func Names() []string {
	var names []string
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

// Named returns the client of a name.
func Named(name string) (Client, error) {
	for _, c := range clients {
		if c.Name == name {
			return c, nil
		}
	}
	return Client{}, fmt.Errorf("%q: want one of %s", name, strings.Join(Names(), ", "))
}

// File returns the path of the client's file: in a project, or with project "" the user's.
// config is the user's folder of settings (os.UserConfigDir).
func (c Client) File(project, home, config string, getenv func(string) string) (string, error) {
	switch {
	case project != "" && c.project == "":
		return "", fmt.Errorf("%s has no settings for a project", c.Name)
	case project != "":
		return filepath.Join(project, filepath.FromSlash(c.project)), nil
	case c.Name == "codex" && getenv("CODEX_HOME") != "":
		return filepath.Join(getenv("CODEX_HOME"), "config.toml"), nil
	case c.config != "" && config == "", c.config == "" && home == "":
		return "", fmt.Errorf("%s: the home directory is not known: set HOME", c.Name)
	case c.config != "":
		return filepath.Join(config, filepath.FromSlash(c.config)), nil
	}
	return filepath.Join(home, filepath.FromSlash(c.user)), nil
}

// Install returns the settings with an entry that runs command with arguments, and whether they
// changed.
func (c Client) Install(settings []byte, command string, args []string) ([]byte, bool, error) {
	if c.toml {
		return installTOML(settings, command, args)
	}
	return agenthook.SetMember(settings, c.entry(command, args), append(slices.Clone(c.members), Name)...)
}

// Uninstall returns the settings without the entry, and whether there was one.
func (c Client) Uninstall(settings []byte) ([]byte, bool, error) {
	if c.toml {
		return uninstallTOML(settings)
	}
	return agenthook.RemoveMember(settings, append(slices.Clone(c.members), Name)...)
}

func (c Client) entry(command string, args []string) string {
	e := struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{Command: command, Args: args}
	if c.typed {
		e.Type = "stdio"
	}
	b, err := json.MarshalIndent(e, "", "\t")
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(b)
}
