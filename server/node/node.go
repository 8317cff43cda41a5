package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands/history"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/mcp"
	"github.com/recountdb/recount/server/runs"
	"github.com/recountdb/recount/server/web"
)

const (
	projectionsDir = "projections"
	scratchDir     = "scratch"
)

// Node is a running Recount. Its methods may be called from any goroutine between Open and Close.
type Node struct {
	cfg     Config
	started time.Time
	chain   processors.Chain
	app     *appender
	reg     *prometheus.Registry
	tokens  *access.Gate // nil if no token is needed

	// The events that an erasure hides while the projections still hold them (hidden.go).
	hiding sync.Mutex // serialises changes
	hidden atomic.Pointer[hiddenEvents]

	// backingUp is held by the running backup.
	backingUp sync.Mutex

	// marking guards erasedUpTo, the content of erasedFile; nil until it is read.
	marking    sync.Mutex
	erasedUpTo schemas.Watermark

	// The parts in the order they are opened; they are closed in reverse. A part that the roles do
	// not need is nil.
	dir      *dataDir
	log      *pipeline.Log
	set      *projections.Set
	listener net.Listener
	spans    otlpServers
	retired  retiredIDs

	// starts is the end of the log when the node opened; ready is set once the projections have
	// applied everything before it.
	starts  schemas.Watermark
	ready   atomic.Bool
	watched atomic.Pointer[func() []api.WatchStatus] // set by SetWatched
	unread  unread

	// A local node has no stream: each question first catches up, holding catching.
	local    bool
	progress func(api.Progress)
	catching sync.Mutex
	// spoolFault is why a local node could not drain the spool.
	spoolFault error
	// graphs caches the code graphs that questions walk.
	graphs *code.Cache
	// history is the index that searches are answered from.
	history history.Index
	// packed caches what questions for context derive from snapshots.
	packed *packing.Cache
	// turns limits how many questions for evidence are answered at once.
	turns *semaphore.Weighted
	// exporters are cancelled if an erasure waits for them.
	exporters exporters

	// gate is read-locked while a stream applies a batch, and write-locked while a rebuild switches
	// generations.
	gate sync.RWMutex

	// long is held by the running rebuild, verify or erasure; stopping cancels it.
	long     sync.Mutex
	stopping context.Context
	stop     context.CancelFunc

	// finishing is the erasure that is being finished (finish.go), or nil; Close waits for it with
	// behindRequests.
	finishing      atomic.Pointer[finishing]
	behindRequests sync.WaitGroup
}

var _ api.Backend = (*Node)(nil)

// Open locks the data directory, opens the log and the projections, and binds the ports; Run then
// serves. An error names the setting to change.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	return open(ctx, cfg, false, nil)
}

// OpenLocal opens a data directory for one command, without listeners. Each question first catches
// up with the log and reports its progress to progress, which may be nil. The error is an
// *InUseError if a process, such as a server, uses the directory.
func OpenLocal(ctx context.Context, cfg Config, progress func(api.Progress)) (*Node, error) {
	cfg.Kafka.Listen = noListener
	return open(ctx, cfg, true, progress)
}

func open(ctx context.Context, cfg Config, local bool, progress func(api.Progress)) (n *Node, err error) {
	if cfg, err = cfg.Normal(); err != nil {
		return nil, err
	}
	n = &Node{cfg: cfg, started: time.Now(), local: local, progress: progress, reg: prometheus.NewRegistry(), graphs: code.NewCache(0), packed: packing.NewCache(), turns: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))}
	n.chain = processors.DefaultChain()
	n.stopping, n.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
			n = nil
		}
	}()
	if !local {
		if err = n.startingWith(ctx); err != nil {
			return n, err
		}
	}
	if n.dir, err = openDataDir(cfg.DataDir, cfg.Logger); err != nil {
		return n, err
	}
	n.cfg.DataDir = n.dir.path
	// Hard links to files that the log may have deleted since.
	if err = os.RemoveAll(filepath.Join(n.dir.path, backupDir)); err != nil {
		return n, fmt.Errorf("remove leftovers of a backup: %w", err)
	}
	// Bind the ports before opening the log, so that a port in use is reported at once.
	if !local {
		if err = n.bind(ctx); err != nil {
			return n, err
		}
	}
	if err = n.openLog(ctx); err != nil {
		return n, err
	}
	if err = n.resume(ctx); err != nil {
		return n, fmt.Errorf("finish an erasure: %w", err)
	}
	if cfg.Has(RoleProject) {
		if err = n.openProjections(ctx); err != nil {
			return n, err
		}
	}
	if n.starts, err = n.log.Ends(ctx, n.topics()...); err != nil {
		return n, err
	}
	if err = n.openAppender(); err != nil {
		return n, err
	}
	if local {
		n.drainLocal(ctx)
		return n, nil
	}
	if err = n.registerMetrics(); err != nil {
		return n, err
	}
	return n, n.spans.open(n)
}

// startingWith logs the configuration in effect, and what of it is ignored.
func (n *Node) startingWith(ctx context.Context) error {
	if len(n.cfg.Pipelines) > 0 && n.cfg.RunPipeline == nil {
		return errors.New("pipelines (--pipeline): this program does not have Benthos; start the server by recount-pipeline up")
	}
	n.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "configuration in effect", n.cfg.Effective()...)
	ignored, _ := n.cfg.retired() // Normal has returned the error
	for _, name := range ignored {
		n.cfg.Logger.Warn("configuration: this setting is ignored and will be an error in the next release: remove it", "setting", name)
	}
	return nil
}

// bind takes the ports of HTTP and of spans. Nothing is answered yet.
func (n *Node) bind(ctx context.Context) (err error) {
	if n.tokens, err = n.cfg.gate(); err != nil {
		return err
	}
	if n.listener, err = listen(ctx, n.cfg.HTTP.Listen, "http.listen (--http)", "choose another port, or :0 for any free one"); err != nil {
		return err
	}
	return n.spans.listen(ctx, n.cfg)
}

// openLog opens the embedded log, or connects to that of the configuration. Errors say what to do.
func (n *Node) openLog(ctx context.Context) (err error) {
	c := n.cfg.pipelineConfig()
	if !n.local && c.Listen != "" {
		options, err := n.kafkaOptions()
		if err != nil {
			return err
		}
		c.Broker.SASL, c.Broker.TLS = options.SASL, options.TLS
	}
	n.log, err = pipeline.Open(ctx, c)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("kafka.listen (--kafka): %s: in use by another program; choose another port, :0 for any free one, or none to serve no Kafka clients: %w", n.cfg.Kafka.Listen, err)
	case errors.Is(err, broker.ErrLoss):
		return fmt.Errorf("%w: to accept the loss, run recount up --accept-loss once (kafka.accept_loss); to restore a backup, run recount restore BACKUP --data-dir NEW", err)
	case errors.Is(err, broker.ErrDamaged):
		return fmt.Errorf("%w: recount restore BACKUP --data-dir NEW", err)
	case err != nil:
		return err
	}
	n.retired.log, n.retired.path = n.log, filepath.Join(n.dir.path, retiredFile)
	if err := n.log.PlaceKeys(ctx); err != nil {
		n.cfg.Logger.Warn("after partitions are added, processes may place the same key in different partitions", "err", err)
	}
	return nil
}

// openProjections opens the projections of the configuration. The error is a *DamagedError if their files are
// damaged.
func (n *Node) openProjections(ctx context.Context) (err error) {
	if err := os.RemoveAll(filepath.Join(n.dir.path, scratchDir)); err != nil {
		return fmt.Errorf("remove leftovers of a verify: %w", err)
	}
	options := projections.Options{Logger: n.cfg.Logger, Reject: n.refused, Seed: n.seed}
	n.set, err = projections.OpenOn(ctx, n.log, filepath.Join(n.dir.path, projectionsDir), options, n.cfg.kinds()...)
	if errors.Is(err, schemas.ErrFatal) {
		return &DamagedError{err}
	}
	return err
}

// openAppender makes what appends events: it redacts them by the rules of the configuration.
func (n *Node) openAppender() error {
	var options redact.Options
	if n.cfg.RedactRules != "" {
		var err error
		if options, err = redact.Load(n.cfg.RedactRules); err != nil {
			return fmt.Errorf("redact_rules: %w", err)
		}
	}
	redactor, err := redact.New(options)
	if err != nil {
		return fmt.Errorf("redact_rules: %w", err)
	}
	n.app = newAppender(n.log, redactor, n.known)
	n.app.retired = n.retired.has
	n.app.tail = newTails(n.log, n.nextKnown, func(topic string) bool {
		return n.set != nil && n.set.Subscribes(knownBy(topic), topic) && n.ready.Load()
	}).find
	return nil
}

// listen binds an address. Its error names the setting and, if the port is in use, how to fix it.
func listen(ctx context.Context, addr, field, mend string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: %s: in use by another program; %s: %w", field, addr, mend, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return l, nil
}

// topics returns the full names of the topics that the projections consume.
func (n *Node) topics() []string {
	kinds := n.cfg.kinds()
	var all []string
	for _, topic := range schemas.Topics() {
		if slices.ContainsFunc(kinds, func(k projections.Definition) bool { return k.Subscribes(topic) }) {
			all = append(all, n.log.Topic(topic))
		}
	}
	return all
}

// HTTPAddr returns the address of the API; "" for a local node.
func (n *Node) HTTPAddr() string {
	if n.listener == nil {
		return ""
	}
	return n.listener.Addr().String()
}

// KafkaAddr returns the address of the embedded broker, or "".
func (n *Node) KafkaAddr() string { return n.log.Addr() }

// DataDir returns the path of the data directory.
func (n *Node) DataDir() string { return n.dir.path }

// Log returns the log, for commands that inspect it directly.
func (n *Node) Log() *pipeline.Log { return n.log }

// Projections returns the set of projections; nil without the role project.
func (n *Node) Projections() *projections.Set { return n.set }

// Endpoints returns the content of endpoints.json while Run runs.
func (n *Node) Endpoints() Endpoints {
	e := Endpoints{
		PID: os.Getpid(), Version: n.cfg.Version, DataID: n.dir.ID, Started: n.started.UTC(),
		Kafka: n.KafkaAddr(), KafkaTLS: n.KafkaAddr() != "" && n.cfg.Kafka.CertFile != "", Brokers: n.cfg.Kafka.Brokers, Roles: n.cfg.Roles,
		TokenFile: n.cfg.HTTP.TokenFile, TokenNeeded: n.cfg.HTTP.Token != "",
		TokensFile: n.cfg.HTTP.TokensFile,
	}
	if addr := n.HTTPAddr(); addr != "" {
		scheme := "http"
		if n.cfg.HTTP.CertFile != "" {
			scheme = "https"
		}
		e.HTTP = scheme + "://" + addr
	}
	n.spans.endpoints(&e, n.cfg.HTTP.CertFile != "")
	return e
}

// Run serves until the context ends or something fails. It stops in order: first the listeners, so
// that no new request comes in, then the streams, each after finishing what it has begun. It
// returns nil after the context's end.
func (n *Node) Run(ctx context.Context) error {
	srv, err := n.httpServer()
	if err != nil {
		return err
	}
	streams, err := n.streams()
	if err != nil {
		return err
	}
	if err := n.dir.writeEndpoints(n.Endpoints()); err != nil {
		return fmt.Errorf("write %s: %w", endpointsFile, err)
	}
	n.cfg.Logger.Info("serving", "http", n.Endpoints().HTTP, "kafka", n.KafkaAddr(), "kafka_access", n.KafkaAccess(), "otlp_grpc", n.Endpoints().OTLPGRPC, "otlp_http", n.Endpoints().OTLPHTTP, "data", n.dir.path, "roles", n.cfg.Roles)

	defer paceCollector()()
	g, ctx := errgroup.WithContext(ctx)
	// The streams continue until the listeners have stopped.
	inner, stopInner := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInner()
	if len(streams) > 0 {
		g.Go(func() error { return n.runStreams(inner, streams) })
	}
	g.Go(func() error { return n.followErasures(inner) })
	g.Go(func() error { return n.retain(inner) })
	if n.drains() {
		g.Go(func() error { n.followSpool(inner); return nil })
	}
	g.Go(func() error { return n.noteLineage(inner) })
	if n.set != nil {
		g.Go(func() error { return n.awaitReady(inner) })
		g.Go(func() error { return n.followHeads(inner) })
	} else {
		n.ready.Store(true)
	}
	g.Go(func() error {
		var err error
		if n.cfg.HTTP.CertFile != "" {
			err = srv.ServeTLS(n.listener, n.cfg.HTTP.CertFile, n.cfg.HTTP.KeyFile)
		} else {
			err = srv.Serve(n.listener)
		}
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve http: %w", err)
	})
	n.spans.serve(g.Go)
	g.Go(func() error {
		<-ctx.Done()
		n.cfg.Logger.Info("stopping")
		err := n.dir.removeEndpoints() // no client should find the node from here on
		n.stop()                       // cancels a running rebuild or verify
		graceful, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.cfg.ShutdownTimeout)
		defer cancel()
		if serr := srv.Shutdown(graceful); serr != nil {
			n.cfg.Logger.Warn("requests cut short", "err", serr)
			err = errors.Join(err, srv.Close())
		}
		if serr := n.spans.shutdown(graceful); serr != nil {
			n.cfg.Logger.Warn("exports of spans cut short", "err", serr)
		}
		stopInner()
		return err
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// awaitReady sets ready once the projections have applied everything up to starts.
func (n *Node) awaitReady(ctx context.Context) error {
	if err := n.set.Wait(ctx, n.starts); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	n.ready.Store(true)
	n.cfg.Logger.Info("ready", "watermark", n.set.Watermark().String(), "after", time.Since(n.started))
	return nil
}

// Ready returns nil if the node is ready, else an error that says why not.
func (n *Node) Ready(ctx context.Context) error {
	if n.ready.Load() {
		return n.allRead(ctx)
	}
	return fmt.Errorf("catching up: the projections are at %q, the log ended at %q at the start", n.set.Watermark(), n.starts)
}

// offers fails if the node does not have the role that operations of the HTTP API with a tag
// require.
func (n *Node) offers(tag string) error {
	role := RoleServe
	switch tag {
	case httpapi.TagOperation:
		return nil
	case httpapi.TagEvents:
		role = RoleIngest
	}
	if !n.cfg.Has(role) {
		return noRole(role)
	}
	return nil
}

// httpServer returns the server with a timeout for each phase of a request. Handlers that stream
// for long lift the write timeout themselves.
func (n *Node) httpServer() (*http.Server, error) {
	h := n.cfg.HTTP
	hosts := slices.Clone(h.Hosts)
	var agents http.Handler
	var executes *runs.Runs
	if n.cfg.Replay.Execute {
		executes = runs.New(runs.Options{Log: n, Redact: n.app.intake.Redact, State: n.cfg.Replay.State, Hide: []string{n.dir.path}})
	}
	if n.cfg.Has(RoleServe) {
		agents = mcp.New(mcp.Options{
			Version: n.cfg.Version, Stopping: n.stopping, Log: n.cfg.Logger, Runs: executes,
			Open: func(context.Context, bool) (api.Backend, func(), error) { return n, func() {}, nil },
		}).Handler()
	}
	page, err := web.New()
	if err != nil {
		return nil, err
	}
	handler := httpapi.New(n, httpapi.Options{
		MCP: agents, Page: page.Register, Runs: executes,
		Version: n.cfg.Version, Gate: n.tokens, Hosts: hosts, MaxBody: h.MaxBodyBytes,
		Log: n.cfg.Logger, Registry: n.reg, Metrics: n.metricsHandler(), Ready: n.Ready, Offers: n.offers, Stopping: n.stopping,
	})
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      120 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(n.cfg.Logger.Handler(), slog.LevelDebug),
	}
	if h.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(h.CertFile, h.KeyFile); err != nil {
			return nil, fmt.Errorf("http.tls_cert: %w", err)
		}
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return srv, nil
}

// Close releases everything in reverse order of opening. It waits for running questions.
func (n *Node) Close() error {
	n.stop()
	n.behindRequests.Wait()
	var errs []error
	if n.listener != nil {
		if err := n.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, n.spans.close())
	if n.set != nil {
		if !n.local { // after one question the log has the rest
			errs = append(errs, n.set.Flush())
		}
		errs = append(errs, n.set.Close())
	}
	if n.log != nil {
		errs = append(errs, n.retired.Close(), n.log.Close())
	}
	if n.dir != nil {
		errs = append(errs, n.dir.close())
	}
	return errors.Join(errs...)
}
