package replaying

import (
	"maps"
	"slices"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/schemas"
)

// TestBeyond names the steps that no trial tells anything of: what they do is not in the directory.
func TestBeyond(t *testing.T) {
	end := 3
	p := &replay.Plan{Steps: []replay.Step{
		{Outputs: []string{"/home/bob/app/out", "/tmp/list"}},
		{Outputs: []string{"/home/bob/bin/tool"}},
		{Background: true},
		{Background: true, EndedBy: &end},
		{Danger: []danger.Finding{{Kind: "publish"}}},
		{Danger: []danger.Finding{{Kind: "history"}}},
		{Command: "git config --global alias.st status"},
		{Command: "git config alias.st status"},
		{Post: []replay.Postcondition{{Kind: replay.PostFile, Target: "/home/bob/.vimrc"}}},
	}}
	var got []int
	for i, is := range beyond(p, "/home/bob/app", "/home/bob") {
		if is {
			got = append(got, i)
		}
	}
	if slices.Sort(got); !slices.Equal(got, []int{1, 2, 4, 6, 8}) {
		t.Errorf("%v", got)
	}
}

// TestBeside joins a plan with that of its whole narrative: of what was left out, only what can be tried without anybody to ask.
func TestBeside(t *testing.T) {
	step := func(i int, name string) replay.Step {
		return replay.Step{Index: i, Intent: schemas.EventID{name[0]}, Command: name, Original: name}
	}
	all := &replay.Plan{Steps: []replay.Step{step(0, "a"), step(1, "b"), step(2, "c"), step(3, "d"), step(4, "e")}}
	all.Steps[3].Asks = []replay.Ask{{Kind: replay.AskTerminal}}
	p := &replay.Plan{Steps: []replay.Step{step(0, "a"), step(1, "e")}, Left: []replay.Left{
		{Intent: schemas.EventID{'b'}, Kind: replay.LeftLooked}, {Intent: schemas.EventID{'c'}, Kind: replay.LeftUnfinished}, {Intent: schemas.EventID{'d'}, Kind: replay.LeftFailed},
	}}
	whole, left, err := beside(p, all)
	if err != nil || len(whole.Steps) != 3 || whole.Steps[1].Command != "b" || !maps.Equal(left, map[int]bool{1: true}) {
		t.Errorf("%+v, %v, %v", whole, left, err)
	}
	if same, left, err := beside(p, nil); same != p || left != nil || err != nil {
		t.Errorf("without that plan: %v, %v, %v", same, left, err)
	}
	p.Steps = append(p.Steps, step(2, "f"))
	if same, _, err := beside(p, all); same != p || err != nil {
		t.Errorf("with a step that only the plan has: %v, %v", same, err)
	}
}
