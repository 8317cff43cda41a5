package recording

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/redact/secrets"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas/clip"
	"github.com/recountdb/recount/schemas/homedir"
)

// Source is the ce_source of events that the command line itself appends.
const Source = "recount/cli"

// Type is the event type of a command.
const Type = "command.executed"

// Command is the payload of command.executed in JSON, as defined in events.proto.
type Command struct {
	Command   string    `json:"command"`
	Workspace string    `json:"workspace,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Session   string    `json:"session,omitempty"`
	Shell     string    `json:"shell,omitempty"`
	User      string    `json:"user,omitempty"`
	Host      string    `json:"host,omitempty"`
	StartedAt time.Time `json:"started_at"`
	Duration  Duration  `json:"duration,omitempty"`
	ExitCode  *int32    `json:"exit_code,omitempty"`
	GitHead   string    `json:"git_head,omitempty"`
	Author    string    `json:"author,omitempty"`
	Home      string    `json:"home,omitempty"` // if it is not the usual one
	// Env has the variables of Variables that are set.
	Env map[string]string `json:"env,omitempty"`
	// Changes is nil if nobody looked.
	Changes *Changes `json:"changes,omitempty"`
}

// Duration is encoded as in protobuf's JSON mapping: "1.5s".
type Duration time.Duration

// MarshalJSON returns the seconds with nine decimal places.
func (d Duration) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%d.%09ds"`, int64(d)/1e9, int64(d)%1e9), nil
}

// Surroundings fills in empty fields from the environment and the working directory.
func (c *Command) Surroundings(getenv func(string) string) {
	if c.Cwd == "" {
		c.Cwd, _ = os.Getwd() // empty if the directory was removed
	} else if abs, err := filepath.Abs(c.Cwd); err == nil {
		c.Cwd = abs
	}
	or := func(s *string, other string) {
		if *s == "" {
			*s = other
		}
	}
	or(&c.Session, getenv("RECOUNT_SESSION"))
	or(&c.Author, getenv("RECOUNT_AUTHOR"))
	or(&c.Shell, shellName(getenv))
	root := Workspace(c.Cwd)
	or(&c.Workspace, root)
	or(&c.GitHead, GitHead(root))
	or(&c.User, UserName(getenv))
	or(&c.Home, homedir.Unusual(getenv("HOME"), c.User, c.Cwd))
	or(&c.Host, HostName())
	if c.Env == nil {
		c.Env = VariablesOf(getenv)
	}
}

func shellName(getenv func(string) string) string {
	if name := filepath.Base(getenv("SHELL")); name != "." {
		return name
	}
	return ""
}

// UserName returns the name of the user who runs this program, from /etc/passwd or else $USER.
// Package os/user would call the C library, which costs a small program more than everything else
// it does.
func UserName(getenv func(string) string) string {
	if b, err := os.ReadFile("/etc/passwd"); err == nil {
		uid := strconv.Itoa(os.Getuid())
		for line := range strings.Lines(string(b)) {
			if f := strings.SplitN(line, ":", 4); len(f) == 4 && f[2] == uid {
				return f[0]
			}
		}
	}
	return getenv("USER")
}

// HostName returns the name of this machine, "" if it has none.
func HostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}

// Clean makes text valid for an event: valid UTF-8 without NUL bytes (which a crash leaves in the
// files of shells), and without trailing white space.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.TrimRight(s, " \t\r\n")
}

// maxText is the maximum length of a command in events.proto; of a longer one the start is
// recorded.
const maxText = 1 << 20

// Redact removes secrets and then cuts what is longer than an event allows, in this order because
// half of a secret is not recognised.
func (c *Command) Redact(r *secrets.Redactor) {
	c.Command, _ = r.Command(c.Command)
	c.Command = clip.Head(Clean(c.Command), maxText)
	for _, s := range []struct {
		text *string
		max  int
	}{
		{&c.Workspace, 4096}, {&c.Cwd, 4096}, {&c.Home, 4096}, {&c.Session, 256}, {&c.Author, 256}, {&c.Shell, 64}, {&c.User, 256}, {&c.Host, 256},
	} {
		out, _ := r.Text(*s.text)
		*s.text = clip.Head(Clean(out), s.max)
	}
	for name, v := range c.Env {
		c.Env[name], _ = r.Text(v)
	}
	if c.Changes != nil && !c.Changes.plain(r) {
		c.Changes = nil
	}
}

// Entry returns the command as an entry for the spool.
func (c *Command) Entry() (spool.Entry, error) {
	data, err := json.Marshal(c)
	return spool.Entry{ID: spool.NewID(), Type: Type, Source: Source, Time: c.StartedAt, Data: data}, err
}
