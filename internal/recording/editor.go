package recording

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"
)

// rebases and commits match lines in which git may open an editor for what no command says: the list of a rebase, or the
// message of a commit. givesMessage matches commits that say theirs.
var (
	rebases      = regexp.MustCompile(`\bgit\b[^;&|\n]*\srebase\b[^;&|\n]*\s(?:-[a-zA-Z]*i\b|--interactive\b)`)
	commits      = regexp.MustCompile(`\bgit\b[^;&|\n]*\scommit\b`)
	givesMessage = regexp.MustCompile(`\scommit\b[^;&|\n]*\s(?:-[a-zA-Z]*[mFC]\b|--(?:message|file|no-edit|fixup|squash|reuse-message))`)
)

// idleEditors are editors that leave a file as it is.
var idleEditors = []string{"true", ":", "/bin/true", "/usr/bin/true", "cat"}

// NoteEditor adds the editor of git to the recorded variables if the command may have opened it and it edits nothing,
// whatever told git of it. Nothing waits for that but the recorder.
func (c *Command) NoteEditor() {
	if rebases.MatchString(c.Command) {
		c.noteIdle("GIT_SEQUENCE_EDITOR", cmp.Or(os.Getenv("GIT_SEQUENCE_EDITOR"), c.git("config", "sequence.editor"), c.git("var", "GIT_EDITOR")))
	}
	if commits.MatchString(c.Command) && !givesMessage.MatchString(c.Command) {
		c.noteIdle("GIT_EDITOR", c.git("var", "GIT_EDITOR"))
	}
}

func (c *Command) noteIdle(name, editor string) {
	if !slices.Contains(idleEditors, editor) {
		return
	}
	if c.Env = maps.Clone(c.Env); c.Env == nil {
		c.Env = map[string]string{}
	}
	c.Env[name] = editor
}

// git returns what git says in the directory of the command, "" if it fails or takes a second.
func (c *Command) git(args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	git := exec.CommandContext(ctx, "git", args...)
	git.Dir = c.Cwd
	out, err := git.Output()
	if err != nil {
		return ""
	}
	return Clean(string(out))
}
