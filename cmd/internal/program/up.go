package program

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
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

// Up returns the verb up. pipeline runs the configs of --pipeline; a program without Benthos passes
// nil, and Up then starts recount-pipeline in place of this process if there are any.
func Up(con *connect.Connector, pipeline func(context.Context, node.Pipeline) error) *cobra.Command {
	var flags node.Config
	var verbose bool
	var logFormat string
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
			cfg, err := con.NodeConfig()
			if err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			set := func(name string, apply func()) {
				if changed(name) {
					apply()
				}
			}
			set("http", func() { cfg.HTTP.Listen = flags.HTTP.Listen })
			set("http-host", func() { cfg.HTTP.Hosts = flags.HTTP.Hosts })
			set("token-file", func() { cfg.HTTP.TokenFile, cfg.HTTP.Token = flags.HTTP.TokenFile, "" })
			set("tokens-file", func() { cfg.HTTP.TokensFile = flags.HTTP.TokensFile })
			set("tls-cert", func() { cfg.HTTP.CertFile = flags.HTTP.CertFile })
			set("tls-key", func() { cfg.HTTP.KeyFile = flags.HTTP.KeyFile })
			set("insecure-no-tls", func() { cfg.HTTP.InsecureNoTLS = flags.HTTP.InsecureNoTLS })
			set("otlp-grpc", func() { cfg.OTLP.GRPC = flags.OTLP.GRPC })
			set("otlp-http", func() { cfg.OTLP.HTTP = flags.OTLP.HTTP })
			set("kafka", func() { cfg.Kafka.Listen = flags.Kafka.Listen })
			set("kafka-advertise", func() { cfg.Kafka.Advertise = flags.Kafka.Advertise })
			set("kafka-tls-cert", func() { cfg.Kafka.CertFile = flags.Kafka.CertFile })
			set("kafka-tls-key", func() { cfg.Kafka.KeyFile = flags.Kafka.KeyFile })
			set("brokers", func() { cfg.Kafka.Brokers = flags.Kafka.Brokers })
			set("topic-prefix", func() { cfg.Kafka.Prefix = flags.Kafka.Prefix })
			set("partitions", func() { cfg.Kafka.Partitions = flags.Kafka.Partitions })
			set("accept-loss", func() { cfg.Kafka.AcceptLoss = flags.Kafka.AcceptLoss })
			set("roles", func() { cfg.Roles = flags.Roles })
			set("embedder", func() { cfg.Embedder = flags.Embedder })
			set("pipeline", func() { cfg.Pipelines = flags.Pipelines })
			set("service", func() { cfg.Services = flags.Services })
			set("watch", func() { cfg.Watch = flags.Watch })
			for i, path := range cfg.Watch {
				if cfg.Watch[i], err = directory(con, path); err != nil {
					return err
				}
			}
			set("replay-execute", func() { cfg.Replay.Execute = flags.Replay.Execute })
			if cfg.Replay.Execute {
				if cfg.Replay.State, err = con.StateDir("recount-replays"); err != nil {
					return err
				}
			}
			set("redact-rules", func() { cfg.RedactRules = flags.RedactRules })
			if cfg.RunPipeline = pipeline; pipeline == nil && len(cfg.Pipelines) > 0 {
				return Pipeline(con)
			}
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			switch logFormat {
			case "text":
				cfg.Logger = slog.New(slog.NewTextHandler(con.Err, &slog.HandlerOptions{Level: level}))
			case "json":
				cfg.Logger = slog.New(slog.NewJSONHandler(con.Err, &slog.HandlerOptions{Level: level}))
			default:
				return usage.Errorf("--log-format %q: want text or json", logFormat)
			}

			n, err := con.OpenServer(cmd.Context(), cfg, connect.UpWait)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, n.Close()) }()
			e := n.Endpoints()
			if con.JSON {
				if err := con.PrintJSON(e); err != nil {
					return err
				}
			} else {
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
			}
			if len(cfg.Watch) == 0 {
				return n.Run(cmd.Context())
			}
			w := importing.NewWatcher(con.Terminal, cfg)
			n.SetWatched(w.Status)
			g, ctx := errgroup.WithContext(cmd.Context())
			watching, stop := context.WithCancel(ctx)
			defer stop()
			g.Go(func() error {
				defer stop()
				return n.Run(ctx)
			})
			g.Go(func() error { return w.Run(watching, n) })
			return g.Wait()
		},
	}
	f := c.Flags()
	f.StringVar(&flags.HTTP.Listen, "http", node.DefaultHTTPListen, "the API's address; :0 picks a port")
	f.StringSliceVar(&flags.HTTP.Hosts, "http-host", nil, "names by which clients may call the API, besides localhost")
	f.StringVar(&flags.HTTP.TokenFile, "token-file", "", "the file of the operator's token: clients must send its first line as a bearer token, Kafka clients as the password of the user operator")
	f.StringVar(&flags.HTTP.TokensFile, "tokens-file", "", "a file of further tokens, each limited to a tenant, workspaces and an agent: recount token new makes them")
	f.StringVar(&flags.HTTP.CertFile, "tls-cert", "", "serve TLS with this certificate")
	f.StringVar(&flags.HTTP.KeyFile, "tls-key", "", "the key of the certificate")
	f.BoolVar(&flags.HTTP.InsecureNoTLS, "insecure-no-tls", false, "allow an address that is not loopback without TLS: the token and every command cross the network unencrypted")
	f.StringVar(&flags.OTLP.GRPC, "otlp-grpc", node.DefaultOTLPGRPC, "the address that receives spans by OTLP over gRPC; :0 picks a port, none disables it")
	f.StringVar(&flags.OTLP.HTTP, "otlp-http", node.DefaultOTLPHTTP, "the address that receives spans by OTLP over HTTP; :0 picks a port, none disables it")
	f.StringVar(&flags.Kafka.Listen, "kafka", node.DefaultKafkaListen, "the embedded log's address for Kafka clients; none for no listener")
	f.StringVar(&flags.Kafka.Advertise, "kafka-advertise", "", "the host:port that the broker advertises to Kafka clients (default its listen address)")
	f.StringVar(&flags.Kafka.CertFile, "kafka-tls-cert", "", "serve Kafka clients with TLS and this certificate")
	f.StringVar(&flags.Kafka.KeyFile, "kafka-tls-key", "", "the key of the certificate")
	f.StringSliceVar(&flags.Kafka.Brokers, "brokers", nil, "brokers of an external Kafka, instead of the embedded log")
	f.StringVar(&flags.Kafka.Prefix, "topic-prefix", "recount.", "the prefix of topic names")
	f.IntVar(&flags.Kafka.Partitions, "partitions", 4, "partitions of a topic when it is created")
	f.BoolVar(&flags.Kafka.AcceptLoss, "accept-loss", false, "start although the embedded log has lost acknowledged events; use it once, after reading which are lost")
	f.StringSliceVar(&flags.Roles, "roles", node.AllRoles, "the roles of this process")
	f.StringVar(&flags.Embedder, "embedder", node.DefaultEmbedder, "the embedder for commands and queries")
	f.StringSliceVar(&flags.Pipelines, "pipeline", nil, "Benthos configs to run instead of the built-in streams (by recount-pipeline)")
	f.StringToStringVar(&flags.Services, "service", nil, "the repository of a service that sends spans: SERVICE=REPOSITORY or SERVICE=REPOSITORY:FOLDER; may be repeated")
	f.StringSliceVar(&flags.Watch, "watch", nil, "directories of git repositories whose commits to import as they are made")
	f.BoolVar(&flags.Replay.Execute, "replay-execute", false, "run replays on this machine for clients with the operator's token, over HTTP on loopback and MCP (docs/replay.md); needs --token-file")
	f.StringVar(&flags.RedactRules, "redact-rules", "", "a file of redaction rules in addition to the built-in ones")
	f.BoolVarP(&verbose, "verbose", "v", false, "log more")
	f.StringVar(&logFormat, "log-format", "text", "text or json")
	return c
}
