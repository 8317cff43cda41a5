package mcpinstall

import (
	"strings"
	"testing"
)

// TestInstallKeepsTheRest checks for every client that an entry is added among what is there, that
// adding it again changes nothing, and that removing it gives the file as it was.
func TestInstallKeepsTheRest(t *testing.T) {
	settings := map[string][]string{
		"claude-code": {"", "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // keep\n  },\n  \"theme\": \"dark\"\n}\n", "{\"numStartups\": 3}\n"},
		"codex":       {"", "model = \"m\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n", "# only a comment\n", "[mcp_servers.a]\ncommand = \"x\"\n\n# about b\n[b]\nk = 1\n"},
		"cursor":      {"", "{\"mcpServers\": {\"a\": {}}}"},
		"gemini":      {"", "{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}\n"},
		"vscode":      {"", "{\n  \"inputs\": [], // trailing\n  \"servers\": {},\n}\n"},
		"zed":         {"", "// Zed settings\n{\n  \"theme\": \"One Dark\",\n  /* block */\n  \"context_servers\": {\n    \"b\": {\"command\": \"y\", \"args\": []},\n  },\n}\n"},
		"windsurf":    {"", "{\"mcpServers\": {}}"},
	}
	for _, name := range Names() {
		c, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range settings[name] {
			after, changed, err := c.Install([]byte(before), `/opt/my "recount"`, []string{"mcp", "--data-dir", "/d"})
			if err != nil || !changed || !strings.Contains(string(after), "recount") {
				t.Errorf("%s: install in %q: %v %v %q", name, before, changed, err, after)
				continue
			}
			for _, word := range []string{"mine", "keep", "One Dark", "block", "trailing", "numStartups", "other", "about b"} {
				if strings.Contains(before, word) && !strings.Contains(string(after), word) {
					t.Errorf("%s: install in %q lost %q:\n%s", name, before, word, after)
				}
			}
			if again, changed, err := c.Install(after, `/opt/my "recount"`, []string{"mcp", "--data-dir", "/d"}); err != nil || changed || string(again) != string(after) {
				t.Errorf("%s: a second install in %q changed it (%v):\n%s", name, before, err, again)
			}
			moved, changed, err := c.Install(after, "/new/recount", []string{"mcp"})
			if err != nil || !changed || strings.Contains(string(moved), "/opt/my") || strings.Count(string(moved), "/new/recount") != 1 {
				t.Errorf("%s: an install elsewhere: %v %v\n%s", name, changed, err, moved)
			}
			gone, changed, err := c.Uninstall(after)
			if err != nil || !changed || strings.Contains(string(gone), "/opt/my") {
				t.Errorf("%s: uninstall: %v %v\n%s", name, changed, err, gone)
			}
			if before != "" && !strings.Contains(before, "{}") && c.Name != "gemini" && strings.TrimSpace(string(gone)) != strings.TrimSpace(before) && strings.Contains(before, "other") {
				t.Errorf("%s: after install and uninstall:\n%q\nbefore:\n%q", name, gone, before)
			}
			if _, changed, err := c.Uninstall(gone); err != nil || changed {
				t.Errorf("%s: a second uninstall: %v %v", name, changed, err)
			}
		}
	}
}

// TestRefused checks that a file in a form that is not understood is not changed.
func TestRefused(t *testing.T) {
	for name, settings := range map[string][]string{
		"claude-code": {"[1]", "{\"mcpServers\": []}", "{", "{\"a\":1,\"a\":2}"},
		"codex":       {"mcp_servers = { recount = { command = \"x\" } }\n", "mcp_servers.recount.command = \"x\"\n"},
	} {
		c, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range settings {
			if out, changed, err := c.Install([]byte(s), "x", nil); err == nil {
				t.Errorf("%s: %q: changed %v to %q", name, s, changed, out)
			}
		}
	}
	if _, err := Named("emacs"); err == nil {
		t.Error("emacs: no error")
	}
}

// TestFile checks where the files are.
func TestFile(t *testing.T) {
	env := func(string) string { return "" }
	for name, want := range map[string][2]string{
		"claude-code": {"/home/a/.claude.json", "/p/.mcp.json"},
		"codex":       {"/home/a/.codex/config.toml", "/p/.codex/config.toml"},
		"cursor":      {"/home/a/.cursor/mcp.json", "/p/.cursor/mcp.json"},
		"gemini":      {"/home/a/.gemini/settings.json", "/p/.gemini/settings.json"},
		"vscode":      {"/home/a/.config/Code/User/mcp.json", "/p/.vscode/mcp.json"},
		"zed":         {"/home/a/.config/zed/settings.json", "/p/.zed/settings.json"},
		"windsurf":    {"/home/a/.codeium/windsurf/mcp_config.json", ""},
	} {
		c, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.File("", "/home/a", "/home/a/.config", env); err != nil || got != want[0] {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want[0])
		}
		got, err := c.File("/p", "/home/a", "/home/a/.config", env)
		if got != want[1] || (err != nil) != (want[1] == "") {
			t.Errorf("%s in a project: %s, %v; want %s", name, got, err, want[1])
		}
	}
}
