package plan

import (
	"strings"
	"testing"
)

// TestNeedsSayWhatIsKnown has a program that may read all that is in its directory, and one that reads what it names.
func TestNeedsSayWhatIsKnown(t *testing.T) {
	p := made(t, narrative("echo started > run.log", "./report > out", "sort run.log > sorted", "cat run.log > copy"), Request{})
	var all []string
	for _, w := range p.Steps[0].Why {
		all = append(all, w.Text)
	}
	if len(all) != 4 || !strings.Contains(strings.Join(all, " "), `"cat run.log > copy" needs it`) {
		t.Error(all)
	}
	text := strings.Join(all, "\n")
	if !strings.Contains(text, `"./report > out" may need it: it wrote /home/ann/app/run.log`) || !strings.Contains(text, `"sort run.log > sorted" needs it: it wrote /home/ann/app/run.log`) {
		t.Error(text)
	}
}
