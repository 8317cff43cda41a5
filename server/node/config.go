package node

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
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

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/otlp"
)

// Roles say what a process does.
const (
	// RoleLog runs the embedded broker; without it brokers must be named.
	RoleLog = "log"
	// RoleIngest takes events over HTTP.
	RoleIngest = "ingest"
	// RoleProcess makes records of events.
	RoleProcess = "process"
	// RoleProject folds records into projections.
	RoleProject = "project"
	// RoleServe answers questions over HTTP; it needs the projections.
	RoleServe = "serve"
)

// AllRoles are the roles of recount up, in the order events take.
var AllRoles = []string{RoleLog, RoleIngest, RoleProcess, RoleProject, RoleServe}

// Defaults of Config.
const (
	DefaultHTTPListen  = "127.0.0.1:7171"
	DefaultKafkaListen = "127.0.0.1:9092"
	DefaultOTLPGRPC    = "127.0.0.1:4317"
	DefaultOTLPHTTP    = "127.0.0.1:4318"
	DefaultEmbedder    = "hash"
)

// Config is the service's configuration: the file that --config names, with the
// flags over it. Each field says the flag that sets it.
type Config struct {
	// DataDir holds the embedded log, the projections and endpoints.json.
	// Required. Flag --data-dir.
	DataDir string `yaml:"data_dir"`
	// Roles of this process; none means all. Flag --roles.
	Roles []string `yaml:"roles"`
	// Kafka is the log.
	Kafka KafkaConfig `yaml:"kafka"`
	// HTTP is the API's door.
	HTTP HTTPConfig `yaml:"http"`
	// OTLP are the receivers of spans.
	OTLP OTLPConfig `yaml:"otlp"`
	// Embedder names what embeds commands and questions; default "hash", the only
	// one so far. Flag --embedder.
	Embedder string `yaml:"embedder"`
	// Vector is how the nearest commands are found.
	Vector VectorConfig `yaml:"vector"`
	// Evidence holds ranking weights of earlier releases. They are ignored, with a warning
	// at start, in this release, and will be an error in the next.
	Evidence map[string]any `yaml:"evidence"`
	// Pipelines are files of Benthos configs that run in place of the built-in
	// one of the roles. Flag --pipeline.
	Pipelines []string `yaml:"pipelines"`
	// RedactRules is a file of redaction rules beside the built-in ones. Flag
	// --redact-rules.
	RedactRules string `yaml:"redact_rules"`
	// KeepFileSecrets stores files of commits as they are. Default false: tokens and
	// private keys in them are redacted when they are imported. Flag --keep-file-secrets of
	// import git and watch git.
	KeepFileSecrets bool `yaml:"keep_file_secrets"`
	// Services say of which repository a service is that sends spans, by its name:
	// REPOSITORY, or REPOSITORY:FOLDER. Of the others that is found out. Flag --service.
	Services map[string]string `yaml:"services"`
	// Retention is what is kept of topics that may be given up; nothing is, unless it
	// says so.
	Retention RetentionConfig `yaml:"retention"`
	// ShutdownTimeout bounds each step of stopping; default 10s.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`

	// Logger is told what happens; nil is silence.
	Logger *slog.Logger `yaml:"-"`
	// Version is the program's, for answers and the log.
	Version string `yaml:"-"`

	sealRows int // of tests: segments and vectors that seal early
	// forgetWait is forgetPatience where a test says otherwise.
	forgetWait time.Duration
}

// KafkaConfig is the log's part of Config.
type KafkaConfig struct {
	// Listen is where the embedded broker serves Kafka clients; default
	// 127.0.0.1:9092, "none" for no listener. Flag --kafka.
	Listen string `yaml:"listen"`
	// Advertise is the host:port the embedded broker tells clients to connect to;
	// default the address it listens on. Flag --kafka-advertise.
	Advertise string `yaml:"advertise"`
	// CertFile and KeyFile serve the embedded broker's listener by TLS. Flags
	// --kafka-tls-cert, --kafka-tls-key.
	CertFile string `yaml:"tls_cert"`
	KeyFile  string `yaml:"tls_key"`
	// Brokers are those of an outside Kafka, used in place of the embedded one.
	// Flag --brokers.
	Brokers []string `yaml:"brokers"`
	// Prefix starts the topics' names; default "recount.". Flag --topic-prefix.
	Prefix string `yaml:"topic_prefix"`
	// Partitions of a topic when it is created; default 4. Flag --partitions.
	Partitions int `yaml:"partitions"`
	// ReplicationFactor of topics created on outside brokers; default theirs.
	ReplicationFactor int `yaml:"replication_factor"`
	// AutoCreateTopics lets clients create topics by asking for them.
	AutoCreateTopics bool `yaml:"auto_create_topics"`
	// AcceptLoss opens an embedded log that has lost acknowledged events, without
	// them. Set it once, after reading the error that names them. Flag
	// --accept-loss.
	AcceptLoss bool `yaml:"accept_loss"`
	// SASL authenticates to outside brokers, or what clients of the embedded one
	// must present. An embedded listener that is not on loopback needs it, or a token
	// of HTTP's and TLS; with a token clients may present that as well, by PLAIN.
	SASL SASLConfig `yaml:"sasl"`
	// TLS to outside brokers.
	TLS TLSConfig `yaml:"tls"`
}

// SASLConfig is an authentication.
type SASLConfig struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty is none.
	Mechanism string `yaml:"mechanism"`
	User      string `yaml:"user"`
	// Password, or PasswordFile that holds it on its first line.
	Password     string `yaml:"password"`
	PasswordFile string `yaml:"password_file"`
}

// TLSConfig says how to reach outside brokers by TLS.
type TLSConfig struct {
	Enabled    bool   `yaml:"enabled"`
	CAFile     string `yaml:"ca_file"`
	CertFile   string `yaml:"cert_file"`
	KeyFile    string `yaml:"key_file"`
	ServerName string `yaml:"server_name"`
}

// HTTPConfig is the API's part of Config.
type HTTPConfig struct {
	// Listen is the API's address; default 127.0.0.1:7171. Flag --http.
	Listen string `yaml:"listen"`
	// Token, or TokenFile that holds it on its first line, is the operator's, and a
	// token is then required from clients. Without one only loopback is served. A relative path is from where
	// the server starts. Flag --token-file.
	Token     string `yaml:"token"`
	TokenFile string `yaml:"token_file"`
	// TokensFile holds further tokens, by their hashes, each with the tenant, the
	// workspaces and the agent that it is good for (package access). It is read again when
	// it has changed. Wants Token as well, which is the operator's. Flag --tokens-file.
	TokensFile string `yaml:"tokens_file"`
	// CertFile and KeyFile serve TLS. Flags --tls-cert, --tls-key.
	CertFile string `yaml:"tls_cert"`
	KeyFile  string `yaml:"tls_key"`
	// InsecureNoTLS allows an address that is not loopback without TLS: the token
	// and every command then cross the network in the clear. Flag
	// --insecure-no-tls.
	InsecureNoTLS bool `yaml:"insecure_no_tls"`
	// Hosts are the names, besides localhost and addresses, by which clients may
	// call this server. Flag --http-host.
	Hosts []string `yaml:"hosts"`
	// MaxBodyBytes bounds POST /v1/events; default 16 MiB.
	MaxBodyBytes int64 `yaml:"max_body_bytes"`
}

// OTLPConfig is how spans are received, by a process with the role ingest. Token, TLS
// and names are those of HTTPConfig, and so are the rules for an address that is not
// loopback.
type OTLPConfig struct {
	// GRPC is the address for OTLP over gRPC; default 127.0.0.1:4317, "none" for no
	// receiver. Flag --otlp-grpc.
	GRPC string `yaml:"grpc"`
	// HTTP is the address for OTLP over HTTP; default 127.0.0.1:4318, "none" for no
	// receiver. Flag --otlp-http.
	HTTP string `yaml:"http"`
	// MaxRequestBytes bounds a request, decompressed; default 16 MiB.
	MaxRequestBytes int `yaml:"max_request_bytes"`
	// MaxInFlightBytes bounds the requests that are not durable yet, together; default
	// 64 MiB, and at least MaxRequestBytes. More lets more senders wait for a slow
	// disk at the price of memory.
	MaxInFlightBytes int64 `yaml:"max_in_flight_bytes"`
}

// VectorConfig is the vector index's part of Config.
type VectorConfig struct {
	// Backend is "flat", the default, or "coder". Another one rebuilds the index from
	// the log at the next start.
	Backend string `yaml:"backend"`
	// Retired holds the parameters that earlier releases could set (retiredVector). They
	// are ignored like Config.Evidence.
	Retired map[string]any `yaml:",inline"`
}

var retiredVector = []string{"m", "ef_construction", "ef"}

// retired returns the names of the settings that are ignored, and an error for one in
// their place that never was a setting.
func (c Config) retired() ([]string, error) {
	var names []string
	for name := range c.Evidence {
		names = append(names, "evidence."+name)
	}
	for name := range c.Vector.Retired {
		if !slices.Contains(retiredVector, name) {
			return nil, fmt.Errorf("vector.%s: not a setting: want vector.backend", name)
		}
		names = append(names, "vector."+name)
	}
	slices.Sort(names)
	return names, nil
}

// vectorOptions returns what the projection is opened with.
func (c Config) vectorOptions() vector.Options {
	return vector.Options{Backend: c.Vector.Backend, Logger: c.Logger, SealRows: c.sealRows}
}

// noListener in place of an address: for Kafka in memory only, for OTLP no receiver.
const noListener = "none"

// LoadConfig reads a config file. A field it does not know is an error, so that
// a misspelt one is not lost in silence.
func LoadConfig(path string) (Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	var c Config
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("config %s: %s", path, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return c, nil
}

// Normal fills in the defaults, reads the files of secrets and checks every
// field; an error names field and value.
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
	// endpoints.json names these to verbs, which run elsewhere.
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
	if err := access.CheckSecretFile(c.HTTP.TokenFile); c.HTTP.TokenFile != "" && err != nil {
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
	if err := c.Retention.Spans.validate("retention.spans"); err != nil {
		errs = append(errs, err)
	}
	for i, r := range c.Roles {
		if !slices.Contains(AllRoles, r) {
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
	case outside && c.Has(RoleLog):
		bad("kafka.brokers", strings.Join(c.Kafka.Brokers, ","), "not with the role log, which is the embedded broker")
	case outside && c.Kafka.AcceptLoss:
		bad("kafka.accept_loss", true, "not with brokers: it is about the embedded log")
	case !outside && !c.Has(RoleLog):
		bad("kafka.brokers", "none", "want the brokers of the log, as the role log is not here")
	}
	if c.Has(RoleServe) && !c.Has(RoleProject) {
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
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		if repo, _, _ := strings.Cut(c.Services[name], ":"); name == "" || repo == "" {
			bad("services."+name, fmt.Sprintf("%q", c.Services[name]), "want SERVICE: REPOSITORY, or SERVICE: REPOSITORY:FOLDER")
		}
	}
	c.validateHTTP(bad)
	if c.Has(RoleLog) && c.Kafka.Listen != noListener && !isLoopback(c.Kafka.Listen) && c.Kafka.SASL.Mechanism == "" && (c.HTTP.Token == "" || c.Kafka.CertFile == "") {
		bad("kafka.listen", c.Kafka.Listen, "not loopback: want kafka.sasl, or anyone on the network reads and writes the log; or a token (--token-file) with kafka.tls_cert and kafka.tls_key (--kafka-tls-cert, --kafka-tls-key)")
	}
	if (c.Kafka.CertFile == "") != (c.Kafka.KeyFile == "") {
		bad("kafka.tls_cert", fmt.Sprintf("%q", c.Kafka.CertFile), "want both tls_cert and tls_key, or neither")
	}
	if c.Kafka.CertFile != "" && (!c.Has(RoleLog) || c.Kafka.Listen == noListener) {
		bad("kafka.tls_cert", fmt.Sprintf("%q", c.Kafka.CertFile), "there is no listener of the embedded broker here: kafka.tls is for outside brokers")
	}
	if c.ShutdownTimeout < 0 {
		bad("shutdown_timeout", c.ShutdownTimeout, "want more than 0")
	}
	for _, err := range split(c.pipelineConfig().Validate()) {
		// The log's own names for what is kafka.* here.
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
		bad("http.tokens_file", fmt.Sprintf("%q", h.TokensFile), "want http.token_file (--token-file) as well: without a token of the operator's, whoever sends none is the operator")
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
		bad("otlp.max_in_flight_bytes", o.MaxInFlightBytes, "want otlp.max_request_bytes at least")
	}
	for _, door := range [][2]string{{"otlp.grpc", o.GRPC}, {"otlp.http", o.HTTP}} {
		if door[1] != "" && door[1] != noListener {
			c.validateAddress(bad, door[0], door[1], "want host:port, or none")
		}
	}
}

// gate admits requests by the operator's token and those of the tokens file.
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

// validateAddress checks an address to serve HTTP or gRPC at: what others on the
// network reach wants a token, and TLS.
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

// isLoopback says whether an address to listen on is reachable from this
// machine only.
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

// Has says whether this process has a role.
func (c Config) Has(role string) bool { return slices.Contains(c.Roles, role) }

// pipelineConfig is the log's configuration.
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
		Broker:           broker.Options{AcceptLoss: k.AcceptLoss},
		SASL:             pipeline.SASL{Mechanism: k.SASL.Mechanism, User: k.SASL.User, Password: k.SASL.Password},
		TLS: pipeline.TLS{
			Enabled: k.TLS.Enabled, CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile,
			KeyFile: k.TLS.KeyFile, ServerName: k.TLS.ServerName,
		},
		Logger: c.Logger,
	}
}

// Effective is the configuration in effect, field by field under the names of
// the config file; secrets are replaced, and what is off or empty is left out.
func (c Config) Effective() []slog.Attr {
	for _, secret := range []*string{&c.HTTP.Token, &c.Kafka.SASL.Password} {
		if *secret != "" {
			*secret = "[set]"
		}
	}
	c.Evidence, c.Vector.Retired = nil, nil
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return []slog.Attr{slog.Any("err", err)} // cannot happen: the struct holds plain fields
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
		case v.Kind == yaml.ScalarNode && v.Value != "" && v.Value != "0" && v.Value != "false":
			attrs = append(attrs, slog.String(name, v.Value))
		}
	}
	return attrs
}
