package program

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/server/node"
)

// directory returns the absolute path of a directory that a flag or the configuration names.
func directory(con *connect.Connector, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && con.Getenv("HOME") != "" {
		path = filepath.Join(con.Getenv("HOME"), rest)
	}
	return filepath.Abs(path)
}

// upFlags has what the flags of up say.
type upFlags struct {
	node.Config
	verbose   bool
	logFormat string
}

// Up returns the verb up. pipeline runs the configs of --pipeline; a program without Benthos passes
// nil, and Up then starts recount-pipeline in place of this process if there are any.
func Up(con *connect.Connector, pipeline func(context.Context, node.Pipeline) error) *cobra.Command {
	var flags upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything in one process: the log, pipelines, page, HTTP API and span receivers",
		Long: `Run Recount: the embedded log, the pipelines that apply it to projections, the page and
the HTTP API. Other verbs on the same data directory use this process while it runs; its
addresses are in DATA-DIR/endpoints.json. Ctrl-c shuts it down cleanly.

With --watch, or watch: in the configuration, it imports the commits of repositories as
they are made, like recount watch git; recount status shows them.

With --brokers it uses an external Kafka or Redpanda instead of the embedded log;
--roles then splits the work between several processes.`,
		Example: `  recount up
  recount up --http 127.0.0.1:0 --kafka none         any port for the API, no Kafka clients
  recount up --watch ~/src/shop,~/src/infra          also import commits of these repositories
  recount up --brokers redpanda:9092 --roles ingest
  recount up --brokers redpanda:9092 --roles process,project,serve --http 0.0.0.0:7171 --token-file token --tls-cert c.pem --tls-key k.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := flags.config(con, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if cfg.RunPipeline = pipeline; pipeline == nil && len(cfg.Pipelines) > 0 {
				return Pipeline(con)
			}
			if cfg.Logger, err = flags.logger(con.Err); err != nil {
				return err
			}
			n, err := con.OpenServer(cmd.Context(), cfg, connect.UpWait)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, n.Close()) }()
			if err := printEndpoints(con, n); err != nil {
				return err
			}
			return run(cmd.Context(), con, cfg, n)
		},
	}
	flags.register(c.Flags())
	return c
}

// config returns the configuration of the config file, changed by the flags that were given.
func (f *upFlags) config(con *connect.Connector, changed func(flag string) bool) (cfg node.Config, err error) {
	if cfg, err = con.NodeConfig(); err != nil {
		return cfg, err
	}
	set := func(name string, apply func()) {
		if changed(name) {
			apply()
		}
	}
	set("http", func() { cfg.HTTP.Listen = f.HTTP.Listen })
	set("http-host", func() { cfg.HTTP.Hosts = f.HTTP.Hosts })
	set("token-file", func() { cfg.HTTP.TokenFile, cfg.HTTP.Token = f.HTTP.TokenFile, "" })
	set("tokens-file", func() { cfg.HTTP.TokensFile = f.HTTP.TokensFile })
	set("tls-cert", func() { cfg.HTTP.CertFile = f.HTTP.CertFile })
	set("tls-key", func() { cfg.HTTP.KeyFile = f.HTTP.KeyFile })
	set("insecure-no-tls", func() { cfg.HTTP.InsecureNoTLS = f.HTTP.InsecureNoTLS })
	set("otlp-grpc", func() { cfg.OTLP.GRPC = f.OTLP.GRPC })
	set("otlp-http", func() { cfg.OTLP.HTTP = f.OTLP.HTTP })
	set("kafka", func() { cfg.Kafka.Listen = f.Kafka.Listen })
	set("kafka-advertise", func() { cfg.Kafka.Advertise = f.Kafka.Advertise })
	set("kafka-tls-cert", func() { cfg.Kafka.CertFile = f.Kafka.CertFile })
	set("kafka-tls-key", func() { cfg.Kafka.KeyFile = f.Kafka.KeyFile })
	set("brokers", func() { cfg.Kafka.Brokers = f.Kafka.Brokers })
	set("topic-prefix", func() { cfg.Kafka.Prefix = f.Kafka.Prefix })
	set("partitions", func() { cfg.Kafka.Partitions = f.Kafka.Partitions })
	set("accept-loss", func() { cfg.Kafka.AcceptLoss = f.Kafka.AcceptLoss })
	set("roles", func() { cfg.Roles = f.Roles })
	set("embedder", func() { cfg.Embedder = f.Embedder })
	set("pipeline", func() { cfg.Pipelines = f.Pipelines })
	set("service", func() { cfg.Services = f.Services })
	set("watch", func() { cfg.Watch = f.Watch })
	set("replay-execute", func() { cfg.Replay.Execute = f.Replay.Execute })
	set("redact-rules", func() { cfg.RedactRules = f.RedactRules })
	for i, path := range cfg.Watch {
		if cfg.Watch[i], err = directory(con, path); err != nil {
			return cfg, err
		}
	}
	if cfg.Replay.Execute {
		cfg.Replay.State, err = con.StateDir("recount-replays")
	}
	return cfg, err
}

// logger returns the log of the server, in the form that --log-format names.
func (f *upFlags) logger(w io.Writer) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.verbose {
		o.Level = slog.LevelDebug
	}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, usage.Errorf("--log-format %q: want text or json", f.logFormat)
}

// printEndpoints prints where a server can be reached.
func printEndpoints(con *connect.Connector, n *node.Node) error {
	e := n.Endpoints()
	if con.JSON {
		return con.PrintJSON(e)
	}
	con.Printf("recount %s\n  data   %s\n", con.Version, con.Home(n.DataDir()))
	if e.HTTP != "" {
		con.Printf("  page   %s   (and the API: %s/docs)\n", e.HTTP, e.HTTP)
	}
	switch {
	case e.Kafka != "":
		con.Printf("  kafka  %s   (%s)\n", e.Kafka, n.KafkaAccess())
	case len(e.Brokers) > 0:
		con.Printf("  kafka  %s (outside)\n", strings.Join(e.Brokers, ","))
	}
	var spans []string
	if e.OTLPGRPC != "" {
		spans = append(spans, e.OTLPGRPC+" (gRPC)")
	}
	if e.OTLPHTTP != "" {
		spans = append(spans, e.OTLPHTTP+"/v1/traces")
	}
	if len(spans) > 0 {
		con.Printf("  otlp   %s\n", strings.Join(spans, ", "))
	}
	con.Printf("  roles  %s\nctrl-c stops it\n", strings.Join(e.Roles, ", "))
	return nil
}

// run runs a server until ctx ends or it fails, and beside it the watcher of the repositories that the
// configuration names.
func run(ctx context.Context, con *connect.Connector, cfg node.Config, n *node.Node) error {
	if len(cfg.Watch) == 0 {
		return n.Run(ctx)
	}
	w := importing.NewWatcher(con.Terminal, cfg)
	n.SetWatched(w.Status)
	g, ctx := errgroup.WithContext(ctx)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	g.Go(func() error {
		defer stop()
		return n.Run(ctx)
	})
	g.Go(func() error { return w.Run(watching, n) })
	return g.Wait()
}

// register defines the flags.
func (f *upFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.HTTP.Listen, "http", node.DefaultHTTPListen, "the API's address; :0 picks a port")
	set.StringSliceVar(&f.HTTP.Hosts, "http-host", nil, "names by which clients may call the API, besides localhost")
	set.StringVar(&f.HTTP.TokenFile, "token-file", "", "the file of the operator's token: clients must send its first line as a bearer token, Kafka clients as the password of the user operator")
	set.StringVar(&f.HTTP.TokensFile, "tokens-file", "", "a file of further tokens, each limited to a tenant, workspaces and an agent: recount token new makes them")
	set.StringVar(&f.HTTP.CertFile, "tls-cert", "", "serve TLS with this certificate")
	set.StringVar(&f.HTTP.KeyFile, "tls-key", "", "the key of the certificate")
	set.BoolVar(&f.HTTP.InsecureNoTLS, "insecure-no-tls", false, "allow an address that is not loopback without TLS: the token and every command cross the network unencrypted")
	set.StringVar(&f.OTLP.GRPC, "otlp-grpc", node.DefaultOTLPGRPC, "the address that receives spans by OTLP over gRPC; :0 picks a port, none disables it")
	set.StringVar(&f.OTLP.HTTP, "otlp-http", node.DefaultOTLPHTTP, "the address that receives spans by OTLP over HTTP; :0 picks a port, none disables it")
	set.StringVar(&f.Kafka.Listen, "kafka", node.DefaultKafkaListen, "the embedded log's address for Kafka clients; none for no listener")
	set.StringVar(&f.Kafka.Advertise, "kafka-advertise", "", "the host:port that the broker advertises to Kafka clients (default its listen address)")
	set.StringVar(&f.Kafka.CertFile, "kafka-tls-cert", "", "serve Kafka clients with TLS and this certificate")
	set.StringVar(&f.Kafka.KeyFile, "kafka-tls-key", "", "the key of the certificate")
	set.StringSliceVar(&f.Kafka.Brokers, "brokers", nil, "brokers of an external Kafka, instead of the embedded log")
	set.StringVar(&f.Kafka.Prefix, "topic-prefix", "recount.", "the prefix of topic names")
	set.IntVar(&f.Kafka.Partitions, "partitions", 4, "partitions of a topic when it is created")
	set.BoolVar(&f.Kafka.AcceptLoss, "accept-loss", false, "start although the embedded log has lost acknowledged events; use it once, after reading which are lost")
	set.StringSliceVar(&f.Roles, "roles", node.AllRoles, "the roles of this process")
	set.StringVar(&f.Embedder, "embedder", node.DefaultEmbedder, "the embedder for commands and queries")
	set.StringSliceVar(&f.Pipelines, "pipeline", nil, "Benthos configs to run instead of the built-in streams (by recount-pipeline)")
	set.StringToStringVar(&f.Services, "service", nil, "the repository of a service that sends spans: SERVICE=REPOSITORY or SERVICE=REPOSITORY:FOLDER; may be repeated")
	set.StringSliceVar(&f.Watch, "watch", nil, "directories of git repositories whose commits to import as they are made")
	set.BoolVar(&f.Replay.Execute, "replay-execute", false, "run replays on this machine for clients with the operator's token, over HTTP on loopback and MCP (docs/replay.md); needs --token-file")
	set.StringVar(&f.RedactRules, "redact-rules", "", "a file of redaction rules in addition to the built-in ones")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "log more")
	set.StringVar(&f.logFormat, "log-format", "text", "text or json")
}
