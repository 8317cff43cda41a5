package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/internal/secretfile"
	"github.com/recountdb/recount/internal/strictyaml"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/otlp"
)

// The roles of a process.
const (
	// RoleLog runs the embedded broker; without it Kafka.Brokers must name brokers.
	RoleLog = "log"
	// RoleIngest accepts events over HTTP and spans over OTLP.
	RoleIngest = "ingest"
	// RoleProcess makes records from events.
	RoleProcess = "process"
	// RoleProject folds records into projections.
	RoleProject = "project"
	// RoleServe answers questions over HTTP; it needs the projections.
	RoleServe = "serve"
)

// AllRoles lists all roles in the order in which events pass them.
var AllRoles = []string{RoleLog, RoleIngest, RoleProcess, RoleProject, RoleServe}

// The defaults of Config.
const (
	DefaultHTTPListen  = "127.0.0.1:7171"
	DefaultKafkaListen = "127.0.0.1:9092"
	DefaultOTLPGRPC    = "127.0.0.1:4317"
	DefaultOTLPHTTP    = "127.0.0.1:4318"
	DefaultEmbedder    = "hash"
)

// Config is the configuration of the server: the file that --config names, overridden by flags. The
// comment of each field names the flag that sets it.
type Config struct {
	// DataDir is the directory of the embedded log, the projections and endpoints.json. Required.
	// Flag --data-dir.
	DataDir string `yaml:"data_dir"`
	// Roles of this process; empty means all. Flag --roles.
	Roles []string `yaml:"roles"`
	// Kafka configures the log.
	Kafka KafkaConfig `yaml:"kafka"`
	// HTTP configures the API.
	HTTP HTTPConfig `yaml:"http"`
	// OTLP configures the receivers of spans.
	OTLP OTLPConfig `yaml:"otlp"`
	// Embedder names the embedder of commands and questions. The default and only one is "hash".
	// Flag --embedder.
	Embedder string `yaml:"embedder"`
	// Vector configures the search for the nearest commands.
	Vector VectorConfig `yaml:"vector"`
	// Evidence holds ranking weights of earlier releases. This release ignores them with a warning
	// at start; in the next they will be an error.
	Evidence map[string]any `yaml:"evidence"`
	// Pipelines lists files of Benthos configs that replace the built-in pipeline of the roles.
	// Flag --pipeline.
	Pipelines []string `yaml:"pipelines"`
	// RedactRules is a file with redaction rules in addition to the built-in ones. Flag
	// --redact-rules.
	RedactRules string `yaml:"redact_rules"`
	// RecordChanges set to false keeps recorders from looking for the files that a command changed; see
	// package recording, which reads it.
	RecordChanges *bool `yaml:"record_changes"`
	// KeepFileSecrets disables the redaction of files in commits. By default tokens and private
	// keys in them are redacted on import. Flag --keep-file-secrets of import git and watch git.
	KeepFileSecrets bool `yaml:"keep_file_secrets"`
	// Services maps the names of services that send spans to REPOSITORY or REPOSITORY:FOLDER. The
	// repositories of other services are inferred. Flag --service.
	Services map[string]string `yaml:"services"`
	// Watch lists the directories of git repositories whose commits the server imports as they are
	// made, as recount watch git does. Needs the role ingest. Flag --watch.
	Watch []string `yaml:"watch"`
	// Replay configures the execution of replays for clients.
	Replay ReplayConfig `yaml:"replay"`
	// Retention limits what is kept of topics from which events may be removed. By default
	// everything is kept.
	Retention RetentionConfig `yaml:"retention"`
	// ShutdownTimeout is the maximum duration of each step of stopping; default 10s.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`

	// Logger receives the log messages; nil discards them.
	Logger *slog.Logger `yaml:"-"`
	// Version is the program's version, for answers and the log.
	Version string `yaml:"-"`
	// RunPipeline runs a config of Pipelines until the context ends. It is set in programs that
	// have Benthos; Pipelines is an error in others.
	RunPipeline func(context.Context, Pipeline) error `yaml:"-"`

	sealRows      int           // for tests: seals segments and vectors early
	streamRecords int           // for tests: the maximum records of a batch of the built-in streams
	forgetWait    time.Duration // for tests: replaces forgetPatience
	minFree       int64         // for tests: the free space in bytes below which the embedded log is full
}

// KafkaConfig is the part of Config about the log.
type KafkaConfig struct {
	// Listen is the address where the embedded broker serves Kafka clients; default 127.0.0.1:9092,
	// "none" for no listener. Flag --kafka.
	Listen string `yaml:"listen"`
	// Advertise is the host:port that the embedded broker names to clients; default the address it
	// listens on. Flag --kafka-advertise.
	Advertise string `yaml:"advertise"`
	// CertFile and KeyFile enable TLS on the embedded broker's listener. Flags --kafka-tls-cert,
	// --kafka-tls-key.
	CertFile string `yaml:"tls_cert"`
	KeyFile  string `yaml:"tls_key"`
	// Brokers are the addresses of an external Kafka, used instead of the embedded broker. Flag
	// --brokers.
	Brokers []string `yaml:"brokers"`
	// Prefix is the prefix of all topics' names; default "recount.". Flag --topic-prefix.
	Prefix string `yaml:"topic_prefix"`
	// Partitions is the number of partitions of a new topic; default 4. Flag --partitions.
	Partitions int `yaml:"partitions"`
	// ReplicationFactor is that of topics created on external brokers; default theirs.
	ReplicationFactor int `yaml:"replication_factor"`
	// AutoCreateTopics allows clients to create topics by naming them.
	AutoCreateTopics bool `yaml:"auto_create_topics"`
	// AcceptLoss opens an embedded log that has lost acknowledged events, without them. Set it
	// once, after reading the error that names them. Flag --accept-loss.
	AcceptLoss bool `yaml:"accept_loss"`
	// SASL is what this node presents to external brokers, or what clients of the embedded broker
	// must present. An embedded listener that is not on loopback requires it, or else a token of
	// HTTP and TLS; if there is a token, clients may also present it by PLAIN.
	SASL SASLConfig `yaml:"sasl"`
	// TLS configures the connections to external brokers.
	TLS TLSConfig `yaml:"tls"`
}

// SASLConfig is a SASL mechanism with its credentials.
type SASLConfig struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty disables SASL.
	Mechanism string `yaml:"mechanism"`
	User      string `yaml:"user"`
	// Set Password, or PasswordFile, whose first line is the password.
	Password     string `yaml:"password"`
	PasswordFile string `yaml:"password_file"`
}

// TLSConfig configures TLS to external brokers.
type TLSConfig struct {
	Enabled    bool   `yaml:"enabled"`
	CAFile     string `yaml:"ca_file"`
	CertFile   string `yaml:"cert_file"`
	KeyFile    string `yaml:"key_file"`
	ServerName string `yaml:"server_name"`
}

// HTTPConfig is the part of Config about the API.
type HTTPConfig struct {
	// Listen is the address of the API; default 127.0.0.1:7171. Flag --http.
	Listen string `yaml:"listen"`
	// Token is the operator's token, or TokenFile has it on its first line. If it is set, clients
	// must send a token; without it only loopback addresses are allowed. A relative path is
	// relative to the server's working directory. Flag --token-file.
	Token     string `yaml:"token"`
	TokenFile string `yaml:"token_file"`
	// TokensFile holds the hashes of further tokens, each with its tenant, workspaces and agent
	// (package access). The server re-reads it when it changes. It requires Token, which is the
	// operator's. Flag --tokens-file.
	TokensFile string `yaml:"tokens_file"`
	// CertFile and KeyFile enable TLS. Flags --tls-cert, --tls-key.
	CertFile string `yaml:"tls_cert"`
	KeyFile  string `yaml:"tls_key"`
	// InsecureNoTLS allows an address that is not loopback without TLS: the token and all commands
	// then cross the network unencrypted. Flag --insecure-no-tls.
	InsecureNoTLS bool `yaml:"insecure_no_tls"`
	// Hosts lists the names, besides localhost and IP addresses, by which clients may address this
	// server. Flag --http-host.
	Hosts []string `yaml:"hosts"`
	// MaxBodyBytes is the maximum body size of POST /v1/events; default 16 MiB.
	MaxBodyBytes int64 `yaml:"max_body_bytes"`
}

// ReplayConfig is the part of Config about replays that clients of the API and of MCP ask for.
type ReplayConfig struct {
	// Execute lets whoever has the operator's token run plans on this machine, as this process's
	// user. It needs the role serve, HTTP on loopback and a token. Flag --replay-execute.
	Execute bool `yaml:"execute"`
	// State is the directory of what runs wrote, that of the verb replay. The program sets it.
	State string `yaml:"-"`
}

// OTLPConfig configures the receivers of spans of a process with the role ingest. Token, TLS and
// host names are those of HTTPConfig, and the same rules apply to addresses that are not loopback.
type OTLPConfig struct {
	// GRPC is the address for OTLP over gRPC; default 127.0.0.1:4317, "none" for no receiver. Flag
	// --otlp-grpc.
	GRPC string `yaml:"grpc"`
	// HTTP is the address for OTLP over HTTP; default 127.0.0.1:4318, "none" for no receiver. Flag
	// --otlp-http.
	HTTP string `yaml:"http"`
	// MaxRequestBytes is the maximum size of a request, decompressed; default 16 MiB.
	MaxRequestBytes int `yaml:"max_request_bytes"`
	// MaxInFlightBytes is the maximum size of all requests together that are not durable yet;
	// default 64 MiB, at least MaxRequestBytes. A larger value lets more senders wait for a slow
	// disk at the price of memory.
	MaxInFlightBytes int64 `yaml:"max_in_flight_bytes"`
}

// VectorConfig is the part of Config about the vector index.
type VectorConfig struct {
	// Backend is "flat", the default, or "coder". Changing it rebuilds the index from the log at
	// the next start.
	Backend string `yaml:"backend"`
	// Retired holds parameters of earlier releases (retiredVector). They are ignored like
	// Config.Evidence.
	Retired map[string]any `yaml:",inline"`
}

var retiredVector = []string{"m", "ef_construction", "ef"}

// retired returns the names of settings that are ignored, and an error for a setting that never
// existed.
func (c Config) retired() ([]string, error) {
	var names []string
	for name := range c.Evidence {
		names = append(names, "evidence."+name)
	}
	for name := range c.Vector.Retired {
		if !slices.Contains(retiredVector, name) {
			return nil, fmt.Errorf("vector.%s: unknown setting: want vector.backend", name)
		}
		names = append(names, "vector."+name)
	}
	slices.Sort(names)
	return names, nil
}

// vectorOptions returns the options of the projection vector.
func (c Config) vectorOptions() vector.Options {
	return vector.Options{Backend: c.Vector.Backend, Logger: c.Logger, SealRows: c.sealRows}
}

// noListener in place of an address disables a listener: Kafka is then in memory only.
const noListener = "none"

// LoadConfig reads a config file. An unknown field is an error, so that a misspelt one is not
// silently ignored.
func LoadConfig(path string) (Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	var c Config
	if err := strictyaml.Decode(b, &c); err != nil {
		return Config{}, fmt.Errorf("config %s: %w", path, err)
	}
	return c, nil
}

// Normal returns the configuration with defaults filled in and files of secrets read, after
// checking every field. An error names field and value.
func (c Config) Normal() (Config, error) {
	if len(c.Roles) == 0 {
		c.Roles = slices.Clone(AllRoles)
		if len(c.Kafka.Brokers) > 0 {
			c.Roles = slices.Clone(AllRoles[1:])
		}
	}
	setDefault(&c.Embedder, DefaultEmbedder)
	setDefault(&c.HTTP.Listen, DefaultHTTPListen)
	if c.Has(RoleIngest) {
		setDefault(&c.OTLP.GRPC, DefaultOTLPGRPC)
		setDefault(&c.OTLP.HTTP, DefaultOTLPHTTP)
	}
	if c.OTLP.MaxRequestBytes == 0 {
		c.OTLP.MaxRequestBytes = otlp.DefaultMaxRequest
	}
	if c.OTLP.MaxInFlightBytes == 0 {
		c.OTLP.MaxInFlightBytes = max(otlp.DefaultMaxInFlight, int64(c.OTLP.MaxRequestBytes))
	}
	if c.Has(RoleLog) {
		setDefault(&c.Kafka.Listen, DefaultKafkaListen)
	}
	setDefault(&c.Kafka.Prefix, pipeline.DefaultPrefix)
	if c.Kafka.Partitions == 0 {
		c.Kafka.Partitions = pipeline.DefaultPartitions
	}
	if c.HTTP.MaxBodyBytes == 0 {
		c.HTTP.MaxBodyBytes = httpapi.DefaultMaxBody
	}
	setDefault(&c.Version, "dev")
	if c.ShutdownTimeout == 0 {
		c.ShutdownTimeout = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for i, h := range c.HTTP.Hosts {
		c.HTTP.Hosts[i] = strings.ToLower(strings.TrimSuffix(h, "."))
	}
	// These paths go into endpoints.json, and other commands may run in another directory.
	for _, f := range []struct {
		field string
		path  *string
	}{{"http.token_file", &c.HTTP.TokenFile}, {"http.tokens_file", &c.HTTP.TokensFile}} {
		if *f.path == "" {
			continue
		}
		abs, err := filepath.Abs(*f.path)
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.field, err)
		}
		*f.path = abs
	}
	if err := secretfile.Check(c.HTTP.TokenFile); c.HTTP.TokenFile != "" && err != nil {
		return c, fmt.Errorf("http.token_file (--token-file): %w", err)
	}
	err := errors.Join(
		readSecret(&c.HTTP.Token, c.HTTP.TokenFile, "http.token_file"),
		readSecret(&c.Kafka.SASL.Password, c.Kafka.SASL.PasswordFile, "kafka.sasl.password_file"),
	)
	if err != nil {
		return c, err
	}
	return c, c.validate()
}

func setDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

func readSecret(into *string, path, field string) error {
	if path == "" {
		return nil
	}
	if *into != "" {
		return fmt.Errorf("%s: %q: the secret is given twice, there and in the config", field, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if *into = strings.TrimSpace(line); *into == "" {
		return fmt.Errorf("%s: %q: the first line is empty", field, path)
	}
	return nil
}

func (c Config) validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s: %v: %s", field, value, want))
	}
	for _, topic := range schemas.Topics() {
		if err := c.Retention.keepConfig(topic).validate("retention." + topic); err != nil {
			errs = append(errs, err)
		}
	}
	unknown := false
	for i, r := range c.Roles {
		if !slices.Contains(AllRoles, r) {
			unknown = true
			bad("roles", fmt.Sprintf("%q", r), "want some of "+strings.Join(AllRoles, ", "))
		}
		if slices.Contains(c.Roles[:i], r) {
			bad("roles", fmt.Sprintf("%q", r), "named twice")
		}
	}
	if c.DataDir == "" {
		bad("data_dir", `""`, "want a directory")
	}
	switch outside := len(c.Kafka.Brokers) > 0; {
	case unknown: // which roles are meant is not known
	case outside && c.Has(RoleLog):
		bad("kafka.brokers", strings.Join(c.Kafka.Brokers, ","), "not allowed with the role log, which is the embedded broker")
	case outside && c.Kafka.AcceptLoss:
		bad("kafka.accept_loss", true, "not allowed with brokers: this setting applies to the embedded log")
	case !outside && !c.Has(RoleLog):
		bad("kafka.brokers", "none", "want the brokers of the log, because this process does not have the role log")
	}
	if c.Has(RoleServe) && !c.Has(RoleProject) && !unknown {
		bad("roles", strings.Join(c.Roles, ","), "serve needs project in the same process: it reads the projections from the disk")
	}
	if c.Embedder != DefaultEmbedder {
		bad("embedder", fmt.Sprintf("%q", c.Embedder), "want hash")
	}
	if err := (vector.Options{Backend: c.Vector.Backend}).Validate(); err != nil {
		bad("vector.backend", c.Vector.Backend, err.Error())
	}
	if _, err := c.retired(); err != nil {
		errs = append(errs, err)
	}
	for i, path := range c.Watch {
		switch {
		case !filepath.IsAbs(path):
			bad(fmt.Sprintf("watch[%d]", i), fmt.Sprintf("%q", path), "want the absolute path of a repository's directory")
		case slices.Index(c.Watch, path) < i:
			bad(fmt.Sprintf("watch[%d]", i), fmt.Sprintf("%q", path), "want each repository once")
		case !c.Has(RoleIngest):
			bad("watch", fmt.Sprintf("%q", path), "want the role ingest with it")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		if repo, _, _ := strings.Cut(c.Services[name], ":"); name == "" || repo == "" {
			bad("services."+name, fmt.Sprintf("%q", c.Services[name]), "want SERVICE: REPOSITORY, or SERVICE: REPOSITORY:FOLDER")
		}
	}
	c.validateHTTP(bad)
	if c.Replay.Execute {
		switch {
		case !c.Has(RoleServe):
			bad("replay.execute", true, "want the role serve with it")
		case !isLoopback(c.HTTP.Listen):
			bad("replay.execute", true, "http.listen is "+c.HTTP.Listen+", and commands are run for clients on loopback only")
		case c.HTTP.Token == "":
			bad("replay.execute", true, "want http.token_file (--token-file): without a token every user of this machine could run commands as this one")
		}
	}
	if c.Has(RoleLog) && c.Kafka.Listen != noListener && !isLoopback(c.Kafka.Listen) && c.Kafka.SASL.Mechanism == "" && (c.HTTP.Token == "" || c.Kafka.CertFile == "") {
		bad("kafka.listen", c.Kafka.Listen, "not loopback, so anyone on the network could read and write the log: want kafka.sasl, or a token (--token-file) with kafka.tls_cert and kafka.tls_key (--kafka-tls-cert, --kafka-tls-key)")
	}
	if (c.Kafka.CertFile == "") != (c.Kafka.KeyFile == "") {
		bad("kafka.tls_cert", fmt.Sprintf("%q", c.Kafka.CertFile), "want both tls_cert and tls_key, or neither")
	}
	if c.Kafka.CertFile != "" && (!c.Has(RoleLog) || c.Kafka.Listen == noListener) {
		bad("kafka.tls_cert", fmt.Sprintf("%q", c.Kafka.CertFile), "this process has no listener of the embedded broker; for outside brokers use kafka.tls")
	}
	if c.ShutdownTimeout < 0 {
		bad("shutdown_timeout", c.ShutdownTimeout, "want more than 0")
	}
	for _, err := range split(c.pipelineConfig().Validate()) {
		// The pipeline's names of fields, which are kafka.* here.
		if !strings.HasPrefix(err.Error(), "data_dir") {
			errs = append(errs, fmt.Errorf("kafka.%w", err))
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateHTTP(bad func(field string, value any, want string)) {
	h := c.HTTP
	if h.MaxBodyBytes < 0 {
		bad("http.max_body_bytes", h.MaxBodyBytes, "want more than 0")
	}
	if h.Token != "" {
		if err := access.CheckToken(h.Token); err != nil {
			bad(cmp.Or(h.TokenFile, "http.token"), "too short", err.Error())
		}
	}
	if h.TokensFile != "" && h.Token == "" {
		bad("http.tokens_file", fmt.Sprintf("%q", h.TokensFile), "want http.token_file (--token-file) as well: without an operator's token, every request without a token has the operator's rights")
	}
	if (h.CertFile == "") != (h.KeyFile == "") {
		bad("http.tls_cert", fmt.Sprintf("%q", h.CertFile), "want both tls_cert and tls_key, or neither")
	}
	c.validateAddress(bad, "http.listen", h.Listen, "want host:port")
	o := c.OTLP
	if o.MaxRequestBytes < 1<<20 || o.MaxRequestBytes > 1<<30 {
		bad("otlp.max_request_bytes", o.MaxRequestBytes, "want 1 MiB to 1 GiB")
	}
	if o.MaxInFlightBytes < int64(o.MaxRequestBytes) {
		bad("otlp.max_in_flight_bytes", o.MaxInFlightBytes, "want at least otlp.max_request_bytes")
	}
	for _, l := range [][2]string{{"otlp.grpc", o.GRPC}, {"otlp.http", o.HTTP}} {
		if l[1] != "" && l[1] != noListener {
			c.validateAddress(bad, l[0], l[1], "want host:port, or none")
		}
	}
}

// gate returns the gate for the operator's token and the tokens file.
func (c Config) gate() (*access.Gate, error) {
	if c.HTTP.TokensFile == "" {
		return access.NewGate(c.HTTP.Token, nil), nil
	}
	f, err := access.OpenFile(c.HTTP.TokensFile, c.Logger)
	if err != nil {
		return nil, fmt.Errorf("http.tokens_file (--tokens-file): %w", err)
	}
	return access.NewGate(c.HTTP.Token, f), nil
}

// validateAddress checks an address for HTTP or gRPC: one that other machines can reach requires a
// token and TLS.
func (c Config) validateAddress(bad func(field string, value any, want string), field, addr, form string) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		bad(field, fmt.Sprintf("%q", addr), form)
		return
	}
	if isLoopback(addr) {
		return
	}
	if c.HTTP.Token == "" {
		bad(field, addr, "not loopback: want http.token_file (--token-file)")
	}
	if c.HTTP.CertFile == "" && !c.HTTP.InsecureNoTLS {
		bad(field, addr, "not loopback: want http.tls_cert and http.tls_key (--tls-cert, --tls-key), or --insecure-no-tls if something else encrypts")
	}
}

func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// isLoopback reports whether a listen address is reachable from this machine only.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Has reports whether this process has a role.
func (c Config) Has(role string) bool { return slices.Contains(c.Roles, role) }

// pipelineConfig returns the configuration of the log.
func (c Config) pipelineConfig() pipeline.Config {
	k := c.Kafka
	listen := k.Listen
	if listen == noListener || len(k.Brokers) > 0 {
		listen = ""
	}
	return pipeline.Config{
		DataDir: c.DataDir, Brokers: k.Brokers, Prefix: k.Prefix, Partitions: k.Partitions,
		ReplicationFactor: k.ReplicationFactor, Listen: listen, Advertise: k.Advertise,
		AutoCreateTopics: k.AutoCreateTopics,
		Broker:           broker.Options{AcceptLoss: k.AcceptLoss, MinFreeBytes: c.minFree},
		SASL:             pipeline.SASL{Mechanism: k.SASL.Mechanism, User: k.SASL.User, Password: k.SASL.Password},
		TLS: pipeline.TLS{
			Enabled: k.TLS.Enabled, CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile,
			KeyFile: k.TLS.KeyFile, ServerName: k.TLS.ServerName,
		},
		Logger: c.Logger,
	}
}

// Effective returns the configuration in effect, one attribute per field, named as in the config
// file. Secrets are masked; disabled and empty fields are left out.
func (c Config) Effective() []slog.Attr {
	for _, secret := range []*string{&c.HTTP.Token, &c.Kafka.SASL.Password} {
		if *secret != "" {
			*secret = "[set]"
		}
	}
	c.Evidence, c.Vector.Retired = nil, nil
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return []slog.Attr{slog.Any("err", err)} // cannot happen: all fields are plain
	}
	return flatten(nil, "", &root)
}

// flatten appends the scalars below a mapping, named by their paths.
func flatten(attrs []slog.Attr, prefix string, n *yaml.Node) []slog.Attr {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := prefix+n.Content[i].Value, n.Content[i+1]
		switch {
		case v.Kind == yaml.MappingNode:
			attrs = flatten(attrs, name+".", v)
		case v.Kind == yaml.SequenceNode && len(v.Content) > 0:
			var items []string
			for _, item := range v.Content {
				items = append(items, item.Value)
			}
			attrs = append(attrs, slog.String(name, strings.Join(items, ",")))
		case v.Kind == yaml.ScalarNode && !slices.Contains([]string{"", "0", "0s", "false", "null"}, v.Value):
			attrs = append(attrs, slog.String(name, v.Value))
		}
	}
	return attrs
}
