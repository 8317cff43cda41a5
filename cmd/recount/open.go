package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/browser"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/server/node"
)

// page is a view of the web page: the address for the arguments of a verb.
type page struct {
	name string
	args string // what it takes, for the help
	// address returns the path with its query. b answers questions about defaults.
	address func(ctx context.Context, a *app, b *connect.Backend, args []string) (string, error)
}

// pages are the views, in the order of the help.
var pages = []page{
	{"look", "[WORDS...]", words("/ask")},
	{"ask", "[WORDS...]", words("/ask")},
	{"find", "[WORDS...]", words("/ask")},
	{"show", "ID", reference("/command/")},
	{"why", "[ID]", reference("/why/")},
	{"stitch", "[ID]", func(ctx context.Context, a *app, b *connect.Backend, args []string) (string, error) {
		id, err := a.ref(ctx, b, args)
		return withQuery("/narrative", "root", id), err
	}},
	{"session", "[SESSION]", func(_ context.Context, a *app, _ *connect.Backend, args []string) (string, error) {
		if len(args) == 0 {
			args = []string{a.Getenv("RECOUNT_SESSION")}
		}
		if args[0] == "" {
			return "", usage.Errorf("no session: name one, or set RECOUNT_SESSION")
		}
		return withQuery("/narrative", "session", args[0]), nil
	}},
	{"symbol", "NAME", symbol("/code/symbol")},
	{"callers", "NAME", symbol("/code/symbol")},
	{"impact", "NAME", symbol("/code/impact")},
	{"runtime", "", plain("/runtime")},
	{"trace", "ID", func(_ context.Context, _ *app, _ *connect.Backend, args []string) (string, error) {
		if len(args) == 0 {
			return "", usage.Errorf("name a trace by its id")
		}
		return "/runtime/trace/" + url.PathEscape(args[0]), nil
	}},
	{"agents", "", plain("/agents")},
	{"log", "", plain("/log")},
	{"insights", "", plain("/insights")},
}

type addressFunc = func(ctx context.Context, a *app, b *connect.Backend, args []string) (string, error)

func plain(path string) addressFunc {
	return func(_ context.Context, _ *app, _ *connect.Backend, args []string) (string, error) {
		if len(args) > 0 {
			return "", usage.Errorf("%q: this view takes no argument", args[0])
		}
		return path, nil
	}
}

func words(path string) addressFunc {
	return func(_ context.Context, _ *app, _ *connect.Backend, args []string) (string, error) {
		return withQuery(path, "q", strings.Join(args, " ")), nil
	}
}

// reference is a view of a command, by default the newest failure.
func reference(path string) addressFunc {
	return func(ctx context.Context, a *app, b *connect.Backend, args []string) (string, error) {
		id, err := a.ref(ctx, b, args)
		return path + url.PathEscape(id), err
	}
}

func symbol(path string) addressFunc {
	return func(_ context.Context, _ *app, _ *connect.Backend, args []string) (string, error) {
		if len(args) != 1 {
			return "", usage.Errorf("name one symbol")
		}
		return withQuery(path, "name", args[0]), nil
	}
}

// withQuery returns a path with one value of the query, unless that is empty.
func withQuery(path, name, value string) string {
	if value == "" {
		return path
	}
	return path + "?" + url.Values{name: {value}}.Encode()
}

func (a *app) openCmd() *cobra.Command {
	var list strings.Builder
	var names []string
	for _, p := range pages {
		names = append(names, p.name)
		fmt.Fprintf(&list, "  %s %s\n", p.name, p.args)
	}
	c := &cobra.Command{
		Use:   "open [VIEW [ARGUMENT...]]",
		Short: "Open the web page, and start a server for it if there is none",
		Long: `Open the web page in the browser ($BROWSER, else the desktop's) and print its address;
without a browser only print it. VIEW says what it shows:

` + list.String() + `
If no server uses the data directory, one is started that goes on in the background,
with the settings of the config file; it reports to up.log in the data directory, and
recount stop ends it. With --server, or RECOUNT_SERVER, the page of that server is
opened. A server with a token has a page to log in; the address never holds a token.

The verbs look, find, ask, show, why, stitch, callers and impact have --open for their view.`,
		Example: `  recount open
  recount open why                        what led to the newest failure here
  recount open find remove old images
  recount open impact CommandParser.Parse
  recount why 018f3c2a --open`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			address := plain("/")
			if len(args) > 0 {
				i := slices.Index(names, args[0])
				if i < 0 {
					return usage.Errorf("view %q: want one of %s", args[0], strings.Join(names, ", "))
				}
				address, args = pages[i].address, args[1:]
			}
			return a.openPage(cmd.Context(), address, args)
		},
	}
	return c
}

// openable adds --open to a verb: it opens the view of that name instead of printing the answer.
func (a *app) openable(view string, c *cobra.Command) *cobra.Command {
	i := slices.IndexFunc(pages, func(p page) bool { return p.name == view })
	var open bool
	c.Flags().BoolVar(&open, "open", false, "open the web page with this instead (see recount open)")
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if open {
			return a.openPage(cmd.Context(), pages[i].address, args)
		}
		return run(cmd, args)
	}
	return c
}

// opened is the answer of open in JSON.
type opened struct {
	URL     string `json:"url"`
	Browser bool   `json:"browser"`       // one was started
	Started int    `json:"pid,omitempty"` // of the server that was started
}

func (a *app) openPage(ctx context.Context, address addressFunc, args []string) error {
	cfg, err := a.NodeConfig()
	if err != nil {
		return err
	}
	out := opened{URL: a.ServerURL()}
	var e node.Endpoints
	if out.URL == "" {
		var started bool
		if e, started, err = a.Serve(ctx, cfg); err != nil {
			return err
		}
		out.URL = reachable(e.HTTP)
		if started {
			out.Started = e.PID
		}
	}
	err = a.WithBackend(ctx, func(b *connect.Backend) error {
		path, err := address(ctx, a, b, args)
		out.URL = strings.TrimSuffix(out.URL, "/") + path
		return err
	})
	if err != nil {
		return a.unanswered(err)
	}
	out.Browser = browser.Open(a.Getenv, out.URL)
	if a.JSON {
		return a.PrintJSON(out)
	}
	a.Printf("%s\n", out.URL)
	if out.Started != 0 {
		a.Note("started a server (pid %d); recount stop ends it", out.Started)
	}
	if e.TokenNeeded {
		where := "the token that the server was started with"
		if e.TokenFile != "" {
			where = "the token in " + a.Home(e.TokenFile)
		}
		a.Note("the page asks for a token: log in with %s, or with one of recount token new", where)
	}
	return nil
}

// reachable returns the address at which this machine reaches a server that listens on all of its own.
func reachable(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.String()
}

func (a *app) stopCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the server that uses the data directory",
		Long: `Stop the server that uses the data directory, such as recount open started, and wait
until it has ended. It stops as by ctrl-c: what was acknowledged is kept.
Exits with 1 if there is none.`,
		Example: `  recount stop
  recount stop --data-dir /tmp/try`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.ServerURL() != "" {
				return usage.Errorf("--server, RECOUNT_SERVER: stop ends the server of a data directory on this machine: end another one where it runs")
			}
			cfg, err := a.NodeConfig()
			if err != nil {
				return err
			}
			pid, err := a.StopServer(cmd.Context(), cfg)
			switch {
			case err != nil:
				return err
			case a.JSON:
				if err := a.PrintJSON(map[string]int{"pid": pid}); err != nil {
					return err
				}
			case pid != 0:
				a.Printf("stopped pid %d\n", pid)
			}
			if pid == 0 {
				if _, err := os.Stat(cfg.DataDir); err == nil {
					a.Note("no server uses %s", a.Home(cfg.DataDir))
				} else {
					a.Note("there is no %s", a.Home(cfg.DataDir))
				}
				return exitError(exitNothing)
			}
			return nil
		},
	}
}
