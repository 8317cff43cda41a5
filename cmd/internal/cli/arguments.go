package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/usage"
)

var conversion = regexp.MustCompile(`strconv\.Parse([A-Z][a-z]+): parsing "(?s:.*)": (.*)$`)

// plainFlagError rewrites a flag's error without the names of Go's functions.
func plainFlagError(err error) error {
	m := conversion.FindStringSubmatchIndex(err.Error())
	if m == nil {
		return err
	}
	text := err.Error()
	want := map[string]string{"Int": "want a whole number", "Uint": "want a whole number of 0 or more", "Float": "want a number", "Bool": "want true or false"}[text[m[2]:m[3]]]
	if strings.Contains(text[m[4]:m[5]], "range") {
		want = "the number is too large"
	}
	return errors.New(text[:m[0]] + want)
}

// strict makes every mistake in arguments a usageError, and makes a group of verbs print its help
// if no verb is given.
func strict(c *cobra.Command) {
	if args := c.Args; args != nil || c.HasParent() && !c.HasSubCommands() {
		if args == nil {
			args = cobra.ArbitraryArgs
		}
		c.Args = func(cmd *cobra.Command, a []string) error {
			// Zero in a flag is invalid: unlike in a request, it is no default.
			if f := cmd.Flags().Lookup("limit"); f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String()[0] == '-') {
				return usage.Errorf("--limit %s: want 1 or more", f.Value)
			}
			if err := args(cmd, a); err != nil {
				return usage.Wrap(err)
			}
			return nil
		}
	}
	if c.HasSubCommands() && c.HasParent() && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usage.Errorf("%s: unknown verb %q", cmd.CommandPath(), args[0])
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}
