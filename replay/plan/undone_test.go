package plan

import (
	"slices"
	"strings"
	"testing"
)

// TestTakenBack checks that what is taken back is left out with what takes it back, and that neither is
// where another step read the result in between.
func TestTakenBack(t *testing.T) {
	repo := []string{"git init -q .", "echo a > f", "git add f", "git commit -qm one"}
	for _, c := range []struct {
		name  string
		lines []string
		kept  string // by number
	}{
		{"git restore", append(slices.Clone(repo), "echo b >> f", "git restore f", "echo c >> f"), "0 1 2 3 6"},
		{"git checkout --", append(slices.Clone(repo), "sed -i s/a/b/ f", "git checkout -- f", "git commit -qam two --allow-empty"), "0 1 2 3 6"},
		{"a removal that git restores", append(slices.Clone(repo), "rm f", "git checkout -- f", "cp f g"), "0 1 2 3 6"},
		{"of a repository that was there", []string{"echo b >> f", "git restore f", "echo c >> f"}, "2"},
		{"read in between", append(slices.Clone(repo), "echo b >> f", "cp f g", "git restore f"), "0 1 2 3 4 5 6"},
		{"one edit of two, with what is staged", append(slices.Clone(repo), "echo b >> f", "git add f", "echo c >> f", "git restore f"), "0 1 2 3 4 5"},
		{"a program of unknown writes in between", append(slices.Clone(repo), "echo b >> f", "./change", "git restore f"), "0 1 2 3 4 5 6"},
		{"an edit that does more", append(slices.Clone(repo), "echo b | tee -a f g", "git restore f"), "0 1 2 3 4 5"},
		{"git restore from a commit", append(slices.Clone(repo), "echo b >> f", "git restore -s HEAD~1 f"), "0 1 2 3 4 5"},
		{"mv there and back", []string{"echo a > f", "mv f g", "mv g f", "echo b >> f"}, "0 3"},
		{"mv of a directory", []string{"mkdir d", "echo a > d/f", "mv d e", "mv e d", "cp d/f g"}, "0 1 4"},
		{"mv, edited in between", []string{"echo a > f", "mv f g", "echo b >> g", "mv g f"}, "0 1 2 3"},
		{"mv, read in between", []string{"echo a > f", "mv f g", "cp g h", "mv g f"}, "0 1 2 3"},
		{"a copy moved back", []string{"echo a > f", "cp f f.orig", "echo b >> f", "mv f.orig f"}, "0"},
		{"a copy copied back, and removed", []string{"echo a > f", "cp f f.orig", "echo b >> f", "cp f.orig f", "rm f.orig"}, "0"},
		{"a copy copied back", []string{"echo a > f", "cp f f.orig", "echo b >> f", "cp f.orig f"}, "0 1"},
		{"a copy that is another by now", []string{"echo a > f", "cp f f.orig", "echo b >> f", "echo c > f.orig", "mv f.orig f"}, "3 4"},
		{"a copy moved back, read in between", []string{"echo a > f", "cp f f.orig", "echo b >> f", "wc f > n", "mv f.orig f"}, "0 1 2 3 4"},
		{"a line that sed takes off", []string{"echo a > f", "echo b >> f", "sed -i '$d' f", "echo c >> f"}, "0 3"},
		{"a line of more than one", []string{"echo a > f", "printf 'b\nc\n' >> f", "sed -i '$d' f", "echo c >> f"}, "0 1 2 3"},
		{"a line that was read", []string{"echo a > f", "echo b >> f", "cp f g", "sed -i '$d' f"}, "0 1 2 3"},
		{"a tag that its line removes", []string{"echo a > f", "git tag x && git tag -d x", "git tag y"}, "0 2"},
		{"a directory with a repository that is renamed", []string{"git init -q r", "echo a > r/f", "cd r && git add f && git commit -qm one", "cd r && git tag v1", "mv r s"}, "0 1 2 3 4"},
		{"renamed, and then removed", []string{"git init -q r", "echo a > r/f", "cd r && git add f && git commit -qm one", "cd r && git tag v1", "mv r s", "rm -rf s", "echo b > g"}, "6"},
		{"removed, not renamed", []string{"git init -q r", "cd r && git tag v1", "rm -rf r", "echo b > g"}, "3"},
		{"a copy that is removed, before a program that reads all", []string{"cp a d/b", "rm d/b", "./gen > out"}, "2"},
		{"a copy into a directory, of which another file is removed", []string{"cp a d/b", "rm d/c", "./gen > out"}, "0 1 2"},
		{"removed before a line goes on", []string{"echo a > f", "rm f && echo b > g"}, "0 1"},
		{"removed at the end of a line", []string{"echo a > f", "echo b > g && rm f"}, "0 1"},
		{"removed if it is there", []string{"echo a > f", "rm -f f && echo b > g"}, "1"},
		{"removed, whatever comes of it", []string{"echo a > f", "rm f; echo b > g"}, "1"},
		{"what sed kept", []string{"echo a > f", "sed -i.bak s/a/b/ f", "mv f.bak f", "cat f > g"}, "0 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kept []string
			p := made(t, narrative(c.lines...), Request{})
			for i, line := range c.lines {
				for _, s := range p.Steps {
					if s.Intent == id(i) {
						if kept = append(kept, string(rune('0'+i))); s.Original != line {
							t.Errorf("step %d is %q", i, s.Original)
						}
					}
				}
			}
			if got := strings.Join(kept, " "); got != c.kept {
				t.Errorf("kept %s, want %s", got, c.kept)
				for _, s := range p.Steps {
					t.Logf("kept %q: %v", s.Original, s.Why)
				}
				for _, l := range p.Left {
					t.Logf("left %q: %s", l.Command, l.Why)
				}
			}
			for _, s := range p.Steps {
				for _, n := range s.Needs {
					if n.On >= s.Index {
						t.Errorf("%q needs %d", s.Original, n.On)
					}
				}
			}
		})
	}
}

// TestStagedAgain checks that what is staged by its path is left out where all is staged before the commit.
func TestStagedAgain(t *testing.T) {
	for lines, want := range map[string]string{
		"git init -q .; echo a > f; git add f; echo b > g; git add -A; git commit -qm one":                     "0 1 3 4 5",
		"git init -q .; echo a > f; git add -f f; echo b > g; git add .; git commit -qm one":                   "0 1 2 3 4 5",
		"git init -q .; echo a > f; git add f; git commit -qm one; echo b > g; git add -A; git commit -qm two": "0 1 2 3 4 5 6",
	} {
		if got := keptOf(t, strings.Split(lines, "; ")); got != want {
			t.Errorf("%s: kept %s, want %s", lines, got, want)
		}
	}
}

func keptOf(t *testing.T, lines []string) string {
	t.Helper()
	var kept []string
	for _, s := range made(t, narrative(lines...), Request{}).Steps {
		kept = append(kept, string(rune('0'+slices.Index(lines, s.Original))))
	}
	slices.Sort(kept)
	return strings.Join(kept, " ")
}

// TestRefusedToGoOn has a rebase that git refuses to go on with before its conflict is staged.
func TestRefusedToGoOn(t *testing.T) {
	lines := []string{"git rebase main", "echo a > list", "git rebase --continue", "git add list", "git rebase --continue -q"}
	n := narrative(lines...)
	one := int32(1)
	n.Commands[0].ExitCode, n.Commands[2].ExitCode = &one, &one
	var got []string
	for _, s := range made(t, n, Request{}).Steps {
		got = append(got, s.Original)
	}
	if want := []string{lines[0], lines[1], lines[3], lines[4]}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestRefusedToCommit has a merge whose conflict was committed only once it was staged.
func TestRefusedToCommit(t *testing.T) {
	lines := []string{"git merge --squash side", "git commit -m 'Take side'", "git checkout --theirs list && git add list", "git commit -q -m 'Take side'"}
	n := narrative(lines...)
	one := int32(1)
	n.Commands[0].ExitCode, n.Commands[1].ExitCode = &one, &one
	var got []string
	for _, s := range made(t, n, Request{}).Steps {
		got = append(got, s.Original)
	}
	if want := []string{lines[0], lines[2], lines[3]}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestSettingOfTheUser has a setting of the user that is taken back before another one is made.
func TestSettingOfTheUser(t *testing.T) {
	lines := []string{"git config --global alias.s statsu", "git config --global --unset alias.s", "git config --global alias.st status"}
	n := narrative(lines...)
	var got []string
	for _, s := range made(t, n, Request{}).Steps {
		got = append(got, s.Original)
	}
	if want := lines[2:]; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestSwappedFolders has folders that take the place of others.
func TestSwappedFolders(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"a new folder for an old one, with a file of its": {[]string{
			"mkdir site.new | site.new/ .", "cp site/a site.new/a | site.new/a=1 site.new/",
			"mv site site.old | site/a=1>absent site/b=2>absent site.old/a=1 site.old/b=2 site.old/ .", "mv site.new site | site.new/a=1>absent site/a=1 .", "rm -r site.old | site.old/a=1>absent site.old/b=2>absent .",
		}, "0 1 2 3 4"},
		"a new folder for an old one, of whose files the recorder sees only that they are gone": {[]string{
			"mkdir site.new | .", "cp site/a site.new/a | site.new/a=1",
			"mv site site.old | -site/a -site/b .", "mv site.new site | -site.new/a .", "rm -r site.old | .",
		}, "0 1 2 3 4"},
		"a folder that is moved away and back": {[]string{
			"mkdir d && echo a > d/a | d/a=1", "mv d e | -d/a", "mv e d | -e/a", "rm -r d | -d/a", "echo x > h | h=1",
		}, "4"},
	})
}
