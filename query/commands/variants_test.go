package commands_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/commands"
)

// TestNamesAreFoundByPartsAndMisspellings asks for names as people type them from memory.
func TestNamesAreFoundByPartsAndMisspellings(t *testing.T) {
	h := newHistory(t)
	for i, command := range []string{
		"kubectl get pods -A", "rsync -a --bwlimit=2m /srv backup:/srv", "gnome-screenshot -a -f out.png", "docker build -t shop .",
		"docker ps", "steamos-session-select plasma", "gradle build", "volta help", "ls -la /tmp/meshnamed", "mh_metric --all",
		"systemctl restart nginx", "ffmpeg -i in.mkv -vf crop=640:480 out.mp4", "git commit --amend --no-edit", "git log --oneline", "ip address show",
	} {
		b, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		h.add(int32(i%2), i, string(b))
	}
	for _, c := range []struct{ text, first, word, as string }{
		{"kubect", "kubectl get", "kubect", "kubectl"},
		{"bwlim", "rsync", "bwlim", "bwlimit"},
		{"screensh", "gnome-screenshot", "screensh", "screenshot"},
		{"dokcer build", "docker build", "dokcer", "docker"},
		{"dock", "docker", "dock", "docker"},
		{"sessionselect", "steamos-session-select", "sessionselect", "steamos-session-select"},
		{"systmctl restart", "systemctl restart", "systmctl", "systemctl"},
		{"ngin", "systemctl restart nginx", "ngin", "nginx"},
		{"mpeg", "ffmpeg", "mpeg", "ffmpeg"},
		{"git comit", "git commit", "comit", "commit"},
		{"kubernetess pods", "kubectl get pods", "", ""},
		// What is typed right is taken as it is.
		{"docker ps", "docker ps", "", ""},
		{"gradle build", "gradle build", "", ""},
		{"session select", "steamos-session-select", "", ""},
	} {
		got := h.find(commands.FindRequest{Text: c.text})
		if len(got.Hits) == 0 || !strings.HasPrefix(got.Hits[0].Command, c.first) {
			t.Errorf("%q: got %v, want %q first", c.text, commandsOf(got), c.first)
		}
		if c.as == "" {
			continue
		}
		if i := slices.IndexFunc(got.Variants, func(v commands.Variant) bool { return v.Word == c.word && slices.Contains(v.As, c.as) }); i < 0 {
			t.Errorf("%q: variants %+v, want %q as %q", c.text, got.Variants, c.word, c.as)
		}
	}
	for _, text := range []string{"docker ps", "git log", "+kubect", "!kubect pods", "add a file", "make a directory"} {
		if got := h.find(commands.FindRequest{Text: text}); len(got.Variants) > 0 {
			t.Errorf("%q: variants %+v, want none", text, got.Variants)
		}
	}
	// A command that was recorded after the first question is found by its parts too.
	h.add(0, 20, `{"command":"terraform plan"}`)
	if got := h.find(commands.FindRequest{Text: "terraf"}); len(got.Hits) == 0 || got.Hits[0].Command != "terraform plan" {
		t.Errorf("terraf: got %v", commandsOf(got))
	}
}
