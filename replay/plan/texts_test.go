package plan

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestEditedScripts has a script that was edited after it was written down: most likely it still writes where it did.
func TestEditedScripts(t *testing.T) {
	const script = "cat > ~/bin/save <<'EOF'\ncd || exit 1\nwhile read -r d; do tar -cf saved/$d.tar $d; done < .list\nEOF"
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{script, "sed -i 's/tar -cf/tar --sort=name -cf/' ~/bin/save", "bash ~/bin/save", "cp ~/saved/mail.tar /srv/old/mail.tar"}, "0 1 2 3"},
		{[]string{script, "sed -i 's/tar -cf/tar --sort=name -cf/' ~/bin/save", "chmod +x ~/bin/save; ~/bin/save", "rm ~/saved/*.tar", "bash ~/bin/save", "cp ~/saved/mail.tar /srv/old/mail.tar"}, "0 1 2 3 4 5"},
		{[]string{script, "cp other ~/bin/save", "bash ~/bin/save", "cp ~/saved/mail.tar /srv/old/mail.tar"}, "3"},
	} {
		n := narrative(c.lines...)
		n.Goals = []schemas.EventID{n.Commands[len(n.Commands)-1].ID}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%q: kept %s, want %s", c.lines, got, c.want)
		}
	}
}
