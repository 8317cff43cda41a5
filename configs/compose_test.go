package configs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/server/node"
)

type compose struct {
	Services map[string]struct {
		Image       string
		Command     []string
		Ports       []string
		Volumes     []string
		Secrets     []string
		Build       string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Healthcheck struct{ Test []string }
	}
	Secrets map[string]any
	Volumes map[string]any
}

func readCompose(t *testing.T) compose {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompose checks what can be checked of docker-compose.yml without Docker:
// that everything it names is there.
func TestCompose(t *testing.T) {
	c := readCompose(t)
	var roles []string
	for name, s := range c.Services {
		if s.Image == "" {
			t.Errorf("%s: no image", name)
		}
		for dep, d := range s.DependsOn {
			if target, ok := c.Services[dep]; !ok || d.Condition == "service_healthy" && len(target.Healthcheck.Test) == 0 {
				t.Errorf("%s: depends on %s, which is not there or has no health check", name, dep)
			}
		}
		for _, secret := range s.Secrets {
			if _, ok := c.Secrets[secret]; !ok {
				t.Errorf("%s: secret %s is not defined", name, secret)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(from, "./") {
				if _, err := os.Stat(filepath.Join("..", from)); err != nil {
					t.Errorf("%s: mounts %s: %v", name, from, err)
				}
			} else if _, ok := c.Volumes[from]; !ok {
				t.Errorf("%s: volume %s is not defined", name, from)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: port %s is published beyond loopback", name, p)
			}
		}
		for _, arg := range s.Command {
			if list, ok := strings.CutPrefix(arg, "--roles="); ok {
				roles = append(roles, strings.Split(list, ",")...)
			}
			if arg == "--unsafe-bypass-fsync" || strings.Contains(arg, "dev-container") {
				t.Errorf("%s: %s: the log would not be durable", name, arg)
			}
		}
	}
	slices.Sort(roles)
	if got := strings.Join(roles, " "); got != "ingest process project serve" {
		t.Errorf("the roles are %q: want each but log, which is Redpanda, once", got)
	}
}

// runLine is a RUN of a Dockerfile without its mounts, and with its lines joined.
var runLine = regexp.MustCompile(`(?m)^RUN (?:--mount=\S+ +)*((?:\w+=\S+ )*)go build (.*)$`)

// TestDockerfile checks that every package which the Dockerfile builds has files in the
// environment that it is built in, that all programs are built, and that the image has
// what they need. scripts/compose-build.sh runs the build.
func TestDockerfile(t *testing.T) {
	for name, s := range readCompose(t).Services {
		if s.Image == "recount" && s.Build != "." {
			t.Errorf("%s: the image recount is built from %q, not from the Dockerfile at the root", name, s.Build)
		}
	}
	b, err := os.ReadFile(filepath.Join("..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(b), "")
	m := runLine.FindStringSubmatch(dockerfile)
	if m == nil {
		t.Fatalf("no go build:\n%s", dockerfile)
	}
	var packages []string
	for _, arg := range strings.Fields(m[2]) {
		if strings.HasPrefix(arg, "./") {
			packages = append(packages, arg)
		}
	}
	slices.Sort(packages)
	if want := []string{"./cmd/recount", "./cmd/recount-front", "./cmd/recount-local", "./cmd/recount-pipeline", "./cmd/recount-record"}; !slices.Equal(packages, want) {
		t.Errorf("the image has %v, want %v", packages, want)
	}
	list := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if not (or .Standard .GoFiles .CgoFiles)}}{{.ImportPath}} of {{.IgnoredGoFiles}}{{end}}"}, packages...)...)
	list.Dir = ".."
	list.Env = append(os.Environ(), strings.Fields(m[1])...)
	if out, err := list.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("with %s: %v; packages without files:\n%s", m[1], err, out)
	}
	// The program runs git, and speaks TLS to brokers and collectors.
	for _, pkg := range []string{"git", "ca-certificates"} {
		if !regexp.MustCompile(`apt-get install .*\b` + pkg).MatchString(dockerfile) {
			t.Errorf("the image has no %s", pkg)
		}
	}
	if user := regexp.MustCompile(`(?m)^USER (\S+)`).FindStringSubmatch(dockerfile); user == nil || user[1] == "root" {
		t.Error("the image runs as root")
	}
}

// TestComposeConfig reads the service config that the roles share as the service
// does, which refuses fields it does not know.
func TestComposeConfig(t *testing.T) {
	cfg, err := node.LoadConfig(filepath.Join("service", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := readCompose(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a secret of length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg.HTTP.TokenFile != "/run/secrets/token" {
		t.Errorf("token_file %s is not where docker compose puts the secret", cfg.HTTP.TokenFile)
	}
	cfg.HTTP.TokenFile = token
	for _, broker := range cfg.Kafka.Brokers {
		host, _, _ := strings.Cut(broker, ":")
		if _, ok := c.Services[host]; !ok {
			t.Errorf("broker %s is no service", broker)
		}
	}
	for name, s := range c.Services {
		for _, arg := range s.Command {
			if list, ok := strings.CutPrefix(arg, "--roles="); ok {
				role := cfg
				role.Roles = strings.Split(list, ",")
				if _, err := role.Normal(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestComposeFlags: every flag that docker-compose.yml gives to recount is one
// that the program registers.
func TestComposeFlags(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "cmd", "internal", "*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no program: %v", err)
	}
	known := map[string]bool{}
	registered := regexp.MustCompile(`\.(?:\w+Var|\w+VarP|Bool|String|Int)\((?:&?[\w.]+, )?"([a-z][a-z-]*)",`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range registered.FindAllStringSubmatch(string(b), -1) {
			known[m[1]] = true
		}
	}
	if !known["roles"] || known["nonesuch"] {
		t.Fatalf("flags not understood: %v", known)
	}
	for name, s := range readCompose(t).Services {
		if !slices.Contains(s.Command, "up") {
			continue
		}
		for _, arg := range s.Command {
			flag, isFlag := strings.CutPrefix(arg, "--")
			flag, _, _ = strings.Cut(flag, "=")
			if isFlag && !known[flag] {
				t.Errorf("%s: recount has no flag --%s", name, flag)
			}
		}
	}
}
