package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/projections/lexical/spelling"
	"github.com/recountdb/recount/query"
)

// duration is the error of Go's for a flag that takes a time.
var duration = regexp.MustCompile(`time: (?:invalid duration|missing unit in duration|unknown unit ".*" in duration) .*$`)

// counted is cobra's error about the number of arguments.
var counted = regexp.MustCompile(`^(?:accepts|requires) .*received ([0-9]+)$`)

var conversion = regexp.MustCompile(`strconv\.Parse([A-Z][a-z]+): parsing "(?s:.*)": (.*)$`)

// plainFlagError rewrites a flag's error without the names of Go's functions, and says which flag
// was probably meant by an unknown one.
func plainFlagError(c *cobra.Command, err error) error {
	text := err.Error()
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
		if near := nearFlag(c, unknown.GetSpecifiedName()); near != "" {
			return fmt.Errorf("%s; did you mean --%s?", text, near)
		}
		return err
	}
	if at := duration.FindStringIndex(text); at != nil {
		return errors.New(text[:at[0]] + "want a time such as 90s, 5m or 1h30m")
	}
	m := conversion.FindStringSubmatchIndex(text)
	if m == nil {
		return err
	}
	want := map[string]string{"Int": "want a whole number", "Uint": "want a whole number of 0 or more", "Float": "want a number", "Bool": "want true or false"}[text[m[2]:m[3]]]
	if strings.Contains(text[m[4]:m[5]], "range") {
		want = "the number is too large"
	}
	return errors.New(text[:m[0]] + want)
}

// nearFlag returns the flag of a verb that is spelled most like an unknown one, or the only one that it
// begins or that begins it; "" if there is none.
func nearFlag(c *cobra.Command, typed string) string {
	if len(typed) < 3 {
		return ""
	}
	near, least, begun := "", 1+len(typed)/3, []string(nil)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if strings.HasPrefix(f.Name, typed) || len(f.Name) >= 3 && strings.HasPrefix(typed, f.Name) {
			begun = append(begun, f.Name)
		}
		if d := spelling.Distance(typed, f.Name, least-1); d < least {
			near, least = f.Name, d
		}
	})
	if near == "" && len(begun) == 1 {
		return begun[0]
	}
	return near
}

// miscounted is the error about n arguments, which are too few or too many: it says which are wanted.
func miscounted(c *cobra.Command, n int) error {
	_, wanted, _ := strings.Cut(c.Use, " ")
	wanted = strings.TrimSpace(strings.TrimSuffix(wanted, "[flags]"))
	got := fmt.Sprintf("got %d arguments", n)
	switch n {
	case 0:
		got = "got no argument"
	case 1:
		got = "got 1 argument"
	}
	return usage.Errorf("want %s: %s", strings.TrimSpace(c.CommandPath()+" "+wanted), got)
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
			err := args(cmd, a)
			switch {
			case err == nil:
				return nil
			case counted.MatchString(err.Error()):
				return miscounted(cmd, len(a))
			}
			return usage.Wrap(err)
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
		verbsFirst(c)
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}

// verbsFirst makes a group of verbs complain of an unknown verb and not of that verb's flags, which
// the group does not have either.
func verbsFirst(group *cobra.Command) {
	group.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if typed := c.Flags().Args(); c == group && len(typed) > 0 {
			return c.RunE(c, typed)
		}
		return usage.Wrap(plainFlagError(c, err))
	})
}

// Mistake returns the text of an error in a command line. A field of a request is named as the flag that
// sets it, if there is one.
func Mistake(c *cobra.Command, err error) string {
	var wrong *query.RequestError
	if !errors.As(err, &wrong) || err.Error() != wrong.Error() {
		return err.Error()
	}
	name := strings.ReplaceAll(wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], "_", "-")
	for _, name := range []string{name, strings.TrimSuffix(name, "s")} { // kinds: --kind
		if c.Flags().Lookup(name) != nil {
			return strings.TrimSuffix(fmt.Sprintf("--%s %v", name, wrong.Value), " ") + ": " + wrong.Reason
		}
	}
	return err.Error()
}
