package cli

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
)

// TestMistakesSayWhatIsWanted checks the words for command lines that cannot be understood: they name
// what is wrong as it was typed, and what to write instead, and nothing of Go's or cobra's.
func TestMistakesSayWhatIsWanted(t *testing.T) {
	var wait time.Duration
	var kinds []string
	var asOf string
	root := &cobra.Command{Use: "recount", Args: cobra.ArbitraryArgs, RunE: func(_ *cobra.Command, args []string) error {
		return usage.Errorf("unknown verb %q", args[0])
	}}
	ask := &cobra.Command{Use: "ask FROM TO [flags]", Args: cobra.ExactArgs(2), RunE: func(_ *cobra.Command, args []string) error {
		return usage.Wrap(&query.RequestError{Field: args[0], Value: args[1], Reason: "want another"})
	}}
	ask.Flags().DurationVar(&wait, "wait", 0, "")
	ask.Flags().StringSliceVar(&kinds, "kind", nil, "")
	ask.Flags().StringVar(&asOf, "as-of", "", "")
	list := &cobra.Command{Use: "list", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
	root.AddCommand(ask, list)
	Prepare(root, &render.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, Globals{DataDir: new(string), Config: new(string), Server: new(string), InsecureHTTP: new(bool)})
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"ask"}, "want recount ask FROM TO: got no argument"},
		{[]string{"ask", "a"}, "want recount ask FROM TO: got 1 argument"},
		{[]string{"ask", "a", "b", "c"}, "want recount ask FROM TO: got 3 arguments"},
		{[]string{"ask", "--wait", "soon", "a", "b"}, `invalid argument "soon" for "--wait" flag: want a time such as 90s, 5m or 1h30m`},
		{[]string{"ask", "--wait", "5", "a", "b"}, `invalid argument "5" for "--wait" flag: want a time such as 90s, 5m or 1h30m`},
		{[]string{"ask", "--wait", "5 fortnights", "a", "b"}, `invalid argument "5 fortnights" for "--wait" flag: want a time such as 90s, 5m or 1h30m`},
		{[]string{"ask", "--wiat", "5s", "a", "b"}, "unknown flag: --wiat; did you mean --wait?"},
		{[]string{"ask", "--asof=noon"}, "unknown flag: --asof; did you mean --as-of?"},
		{[]string{"ask", "--kinds", "x"}, "unknown flag: --kinds; did you mean --kind?"},
		{[]string{"ask", "--jso"}, "unknown flag: --jso; did you mean --json?"},
		{[]string{"ask", "--no-such-flag"}, "unknown flag: --no-such-flag"},
		{[]string{"ask", "--ki"}, "unknown flag: --ki"},
		{[]string{"ask", "as_of", `"noon"`}, `--as-of "noon": want another`},
		{[]string{"ask", "filters.kinds", `"x"`}, `--kind "x": want another`},
		{[]string{"ask", "text", `""`}, `text: "": want another`},
		{[]string{"completion", "tcsh"}, `recount completion: unknown verb "tcsh"`},
		{[]string{"completion", "tcsh", "-n", "1"}, `recount completion: unknown verb "tcsh"`},
		{[]string{"lits", "-n", "1"}, `unknown verb "lits"`},
		{[]string{"completion", "-n", "1", "tcsh"}, "unknown shorthand flag: 'n' in -n"},
	} {
		root.SetArgs(test.args)
		c, err := root.ExecuteC()
		var wrong usage.Error
		if !errors.As(err, &wrong) || Mistake(c, err) != test.want {
			t.Errorf("%q: %v, want %s", test.args, err, test.want)
		}
	}
}
