package secrets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/cputime"
)

// expand assembles an example. This file contains no tokens: {A36} becomes 36 characters of the
// class A, and § is removed, so that what looks like a token exists only at run time.
func expand(s string) string {
	classes := map[string]string{
		"A": "aB3dE6fG9hJ2kL5mN8pQ1rS4tU7vW0xYzCcDd", // letters and digits
		"U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		"h": "0a1b2c3d4e5f6789",
		"d": "8273645190",
		"b": "aB3/E6fG9hJ2+L5mN8pQ1rS4tU7vW0xYz", // base64
	}
	s = regexp.MustCompile(`\{([A-Za-z])([0-9]+)\}`).ReplaceAllStringFunc(s, func(m string) string {
		alphabet := classes[m[1:2]]
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[(i*7+i/len(alphabet))%len(alphabet)]
		}
		return string(b)
	})
	return strings.ReplaceAll(s, "§", "")
}

// secrets are texts in which the part between « and » must be replaced by the name.
var secrets = []struct{ name, text string }{
	{"private-key", "cat <<E\n«-----BEGIN RSA PRI§VATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{b60}\n{b60}\n-----END RSA PRI§VATE KEY-----»\nE"},
	{"private-key", `echo "«-----BEGIN PRI§VATE KEY-----\n{b64}\n-----END PRI§VATE KEY-----»" > k.pem`},
	{"private-key", "«{b60}\n-----END OPENSSH PRI§VATE KEY-----»\n$ "},
	{"age-key", "echo «AGE-SEC§RET-KEY-1{U58}» > key.txt"},
	{"aws-access-key", "aws s3 ls --key «AK§IA{U16}»"},
	{"aws-secret-key", "aws configure set aws_secret_access_key «{b40}»"},
	{"aws-secret-key", "AWS_SECRET_ACCESS_KEY=«{b40}» aws s3 ls"},
	{"azure-key", "az x --cs 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«{b86}==»;E=1'"},
	{"azure-sas", "azcopy cp f 'https://a.blob.core.windows.net/c?sv=2020&sig=«{A43}%3D»&se=1'"},
	{"azure-client-secret", "terraform apply -var s «abc8Q§~{A34}»"},
	{"google-api-key", "curl https://maps.googleapis.com/x?k=«AI§za{A35}»"},
	{"google-oauth-token", "x «ya§29.{A40}»"},
	{"google-client-secret", "x «GOC§SPX-{A28}»"},
	{"digitalocean-token", "doctl auth init -t «dop§_v1_{h64}»"},
	{"heroku-key", "x «HR§KU-{A36}»"},
	{"fly-token", "fly x 'FlyV1 «fm§2_{A60}»'"},
	{"tailscale-key", "tailscale up --authkey «tsk§ey-auth-{A12}-{A32}»"},
	{"cloudflare-key", "x «v1§.0-{h24}-{h146}»"},
	{"github-token", "git clone https://«gh§p_{A36}»@github.com/a/b"},
	{"github-token", "echo «github§_pat_{A22}_{A59}» | gh auth login"},
	{"gitlab-token", "glab auth login -t «gl§pat-{A20}»"},
	{"recount-token", "recount ask x --server http://h:1 # «rct§_{A43}»"},
	{"npm-token", "npm x «npm§_{A36}»"},
	{"pypi-token", "twine upload -u __token__ x «py§pi-AgEIcHlwaS5vcmc{A60}»"},
	{"rubygems-key", "gem push x «rubygems§_{h48}»"},
	{"docker-token", "x «dckr§_pat_{A27}»"},
	{"terraform-token", "x «{A14}.atlas§v1.{A67}»"},
	{"vault-token", "x «hv§s.{A24}»"},
	{"pulumi-token", "x «pu§l-{h40}»"},
	{"doppler-token", "doppler run «dp§.st.dev.{A40}»"},
	{"1password-token", "x «ops_ey§J{A120}»"},
	{"atlassian-token", "x «ATA§TT3{A80}»"},
	{"linear-key", "x «lin§_api_{A40}»"},
	{"notion-token", "x «nt§n_{A46}»"},
	{"postman-key", "x «PM§AK-{h24}-{h34}»"},
	{"sentry-token", "x «sntr§ys_{A80}»"},
	{"grafana-token", "x «gls§a_{A32}_{h8}»"},
	{"newrelic-key", "x «NR§AK-{A27}»"},
	{"databricks-token", "x «da§pi{h32}»"},
	{"planetscale-token", "x «pscale§_tkn_{A43}»"},
	{"supabase-token", "x «sb§p_{h40}»"},
	{"slack-token", "slack -t «xo§xb-{d12}-{d12}-{A24}»"},
	{"slack-token", "x «xa§pp-1-A{U9}-{d12}-{h64}»"},
	{"slack-webhook", "curl -d x https://hooks.sl§ack.com/services/«T0000/B0000/{A24}»"},
	{"discord-webhook", "curl https://disc§ord.com/api/webhooks/{d18}/«{A68}»"},
	{"telegram-token", "curl https://api.telegram.org/bot«{d10}:A§A{A33}»/getMe"},
	{"twilio-key", "x «S§K{h32}»"},
	{"sendgrid-key", "x «S§G.{A22}.{A43}»"},
	{"mailgun-key", "x «ke§y-{h32}»"},
	{"mailchimp-key", "x «{h32}-u§s12»"},
	{"stripe-key", "stripe --k «sk§_live_{A24}»"},
	{"stripe-webhook-secret", "x «whs§ec_{A32}»"},
	{"shopify-token", "x «shp§at_{h32}»"},
	{"square-token", "x «sq0§atp-{A22}»"},
	{"anthropic-key", "x '«sk-a§nt-api03-{A60}»'"},
	{"openai-key", "x «s§k-{A48}»"},
	{"openai-key", "x «s§k-proj-{A48}»"},
	{"huggingface-token", "x «h§f_{A34}»"},
	{"huggingface-token", "x «api§_org_{A34}»"},
	{"groq-key", "x «gs§k_{A52}»"},
	{"xai-key", "x «xa§i-{A80}»"},
	{"replicate-token", "x «r§8_{A37}»"},
	{"perplexity-key", "x «ppl§x-{A48}»"},
	{"jwt", "x «ey§J{A20}.ey§J{A40}.{A43}»"},

	{"url-password", "psql postgres://app:«hunter2»@db:5432/app"},
	{"url-password", "git clone https://me:«s3cr%2Fet»@example.com/a.git"},
	{"url-token", "git clone https://«{h40}»:x-oauth-basic@github.com/a/b"},
	{"authorization", "curl -H 'Authorization: Bearer «abcdef»' http://x"},
	{"authorization", "curl -H \"authorization: Basic «dTpw»\" http://x"},
	{"authorization", "curl -H 'Authorization: «{A20}»' http://x"},
	{"bearer", "x 'bearer «{A32}»'"},
	{"api-key", "curl -H 'X-Api-Key: «abc123»' http://x"},
	{"api-key", "curl -H 'PRIVATE-TOKEN: «abc123»' http://x"},
	{"cookie", "curl -H 'Cookie: «session=abc; b=c»' http://x"},
	{"cookie", "curl -b '«session=abc»' http://x"},
	{"password", "tool --password «hunter2» run"},
	{"password", "tool --password=«hunter2» run"},
	{"password", "tool --db-password '«two words»' run"},
	{"password", `tool -password "«hunter\"2»" run`},
	{"secret", "tool --api-key «abc» run"},
	{"secret", "tool --client-secret=«abc»"},
	{"secret", "kubectl config set-credentials me --token=«abc»"},
	{"password", "PGPASSWORD=«hunter2» psql -h db"},
	{"password", "export MYSQL_PWD='«hunter2»'"},
	{"password", "sqlcmd -S 'Server=x;Uid=sa;Pwd=«hunter2»;'"},
	{"password", "kubectl create secret generic s --from-literal=password=«hunter2»"},
	{"secret", "export GITHUB_TOKEN=«abc»"},
	{"secret", "curl 'http://x/?access_token=«abc»&page=2'"},
	{"secret", "DJANGO_SECRET=\"«abc def»\" ./manage.py"},
	{"secret", "RESTIC_ACCESS_KEY=«abc» restic backup"},
	{"secret", `echo '{"client_secret": "«abcd1234»"}'`},
	{"secret", "api_key: «a1b2c3d4e5f6g7»"},
	{"auth-token", "npm config set //npm.example.com/:_auth§Token «abc-def»"},
	{"secret", "git config --global gitlab.token «abc»"},
	{"password", "mysql -u root -p«hunter2» db"},
	{"password", "mysqldump -uroot -p'«hunter 2»' db > dump.sql"},
	{"password", "sshpass -p «hunter2» ssh me@host"},
	{"password", "docker login -u me -p «hunter2» registry"},
	{"password", "mongosh -u me -p «hunter2» db"},
	{"password", "redis-cli -h x -a «hunter2» ping"},
	{"password", "ldapsearch -D cn=x -w «hunter2» '(uid=1)'"},
	{"password", "zip -r -P «hunter2» a.zip a"},
	{"password", "7z a -p«hunter2» a.7z a"},
	{"password", "openssl pkcs12 -in a -passin pass:«hunter2»"},
	{"password", "keytool -list -storepass «changeit»"},
	{"password", "curl -sSu me:«hunter2» http://x"},
	{"password", "curl --user 'me:«hunter2»' http://x"},
	{"password", "http -a me:«hunter2» :8080/x"},
	{"password", "smbclient //h/s -U me%«hunter2»"},
	{"password", "xfreerdp /u:me /p:«hunter2» /v:host"},
	{"password", "sqlplus -s scott/«tiger»@db"},
	{"password", "sqlcmd -S . -P «hunter2» -Q 'select 1'"},
	{"password", "htpasswd -cb file me «hunter2»"},
	{"password", "ssh-keygen -t ed25519 -N '«hunter2»' -f k"},
	{"token", "vault login «s.abcdefghijklmnop»"},
	{"password", "echo 'me:«hunter2»' | sudo chpasswd"},
	{"password", "echo «hunter2» | docker login -u me --password-stdin"},
	{"password", "echo '«hunter2»' | sudo -S true"},
	{"token", "echo «abc» | gh auth login --with-token"},
	{"high-entropy", "export ZORK='«{b32}»'"},
	{"password", "curl https://example.com \\\n  --password \\\n  «hunter2»"},
	{"password", "curl https://example.com \\\r\n  --password \\\r\n  «hunter2»"},
}

// plain are texts that must not be changed.
var plain = []struct{ name, text string }{
	{"private-key", `grep -rn "-----BEGIN RSA PRI§VATE KEY-----" src/ --include=*.go`},
	{"private-key", "ssh-add ~/.ssh/private key"},
	{"age-key", "age-keygen | grep AGE-SECRET-KEY-1"},
	{"aws-access-key", "grep -r AK§IA ."},
	{"aws-access-key", "convert euro asia.png"},
	{"aws-secret-key", "echo $AWS_SECRET_ACCESS_KEY"},
	{"aws-secret-key", "aws configure get aws_secret_access_key"},
	{"azure-key", "grep AccountKey= config"},
	{"azure-sas", "open 'https://x/?sig=short'"},
	{"azure-client-secret", "echo faq~1"},
	{"google-api-key", "grep AI§za src"},
	{"google-oauth-token", "cat ya29.txt"},
	{"google-client-secret", "grep GOCSPX- ."},
	{"digitalocean-token", "git checkout feature_v1_final"},
	{"heroku-key", "grep HRKU- ."},
	{"fly-token", "cat fm2_notes"},
	{"tailscale-key", "grep tskey- ."},
	{"cloudflare-key", "git tag v1.0-rc1"},
	{"github-token", "grep 'gh§p_[A-Za-z0-9]' -r ."},
	{"gitlab-token", "grep glpat- ."},
	{"recount-token", "grep rct_ tokens.yaml"},
	{"npm-token", "npm_config_cache=/tmp npm install"},
	{"pypi-token", "pip install pypi-agent"},
	{"rubygems-key", "ls rubygems_cache"},
	{"docker-token", "grep dckr_pat_ ."},
	{"terraform-token", "grep .atlasv1. ."},
	{"vault-token", "cat hvs.md"},
	{"pulumi-token", "pul-request"},
	{"doppler-token", "vi dp.py"},
	{"1password-token", "grep ops_eyJ ."},
	{"atlassian-token", "grep ATATT3 ."},
	{"linear-key", "lin_api_test"},
	{"notion-token", "cat ntn_dump"},
	{"postman-key", "grep PMAK- ."},
	{"sentry-token", "grep sntrys_ ."},
	{"grafana-token", "grep glsa_ ."},
	{"newrelic-key", "grep NRAK- ."},
	{"databricks-token", "ls dapi"},
	{"planetscale-token", "grep pscale_tkn_ ."},
	{"supabase-token", "sbp_fix"},
	{"slack-token", "ls xoxo-letters"},
	{"slack-webhook", "curl https://hooks.slack.com/"},
	{"discord-webhook", "curl https://example.com/api/webhooks/1"},
	{"telegram-token", "date +%H:AA"},
	{"twilio-key", "ls /mnt/disk SKETCH"},
	{"sendgrid-key", "cat msg.txt SG.md"},
	{"mailgun-key", "rm key-1.pem"},
	{"mailchimp-key", "aws --region x-us1"},
	{"stripe-key", "ls task_live_reload"},
	{"stripe-webhook-secret", "grep whsec_ ."},
	{"shopify-token", "grep shpat_ ."},
	{"square-token", "grep sq0atp- ."},
	{"anthropic-key", "grep sk-ant- ."},
	{"openai-key", "git checkout sk-rework-of-the-whole-parser-branch"},
	{"openai-key", "kubectl logs task-runner-6d5f7c8b9-x2x4zabcdefghijk"},
	{"huggingface-token", "ls hf_cache api_org_list"},
	{"groq-key", "x gsk_short"},
	{"xai-key", "pip install xai-sdk"},
	{"replicate-token", "x r8_short"},
	{"perplexity-key", "x pplx-api"},
	{"jwt", "grep eyJ ."},
	{"url-password", "git clone git@github.com:a/b.git https://github.com/a/b"},
	{"url-password", "psql postgres://app:$PASS@db:5432/app"},
	{"url-password", "curl http://localhost:8080/a@b"},
	{"url-token", "git clone https://github.com/x-oauth-basic@"},
	{"authorization", "curl -H \"Authorization: Bearer $TOKEN\" http://x"},
	{"authorization", "grep -i authorization: src"},
	{"bearer", "echo the bearer of bad news-and-more-words"},
	{"api-key", "curl -H \"X-Api-Key: ${KEY}\" http://x"},
	{"cookie", "curl -b $JAR http://x"},
	{"password", "docker login -u me --password-stdin"},
	{"password", "tool --password-file /run/secrets/db"},
	{"password", "tool --password $DB_PASSWORD"},
	{"password", "passwd root"},
	{"password", "ls --no-password"},
	{"password", "tool --password --verbose"},
	{"password", "psql -h db -p 5432"},
	{"password", "mysql -h db -P 3306 -u root -p"},
	{"password", "mkdir -p src/mysql"},
	{"password", "sudo find / -name mysql -print"},
	{"password", "echo $PWD; PWD=/home/me ls"},
	{"password", "unzip -p a.zip f"},
	{"password", "curl -u me http://x"},
	{"password", "docker run -p 8080:80 nginx"},
	{"password", "scp -P 22 a b"},
	{"secret", "docker build --secret id=npm,src=.npmrc ."},
	{"secret", "kubectl get secret -n prod"},
	{"secret", "python train.py --max-tokens 100 --tokenizer bert"},
	{"secret", "export TOKEN=$(pass show x)"},
	{"secret", "TOKEN_FILE=/run/token ./x"},
	{"secret", "export SSH_PRIVATE_KEY=~/.ssh/id_ed25519"},
	{"secret", "def f(token: str, password: Optional) -> None: self.token = token"},
	{"secret", "git log --author=me --grep key=value"},
	{"secret", "sort --key=2,3 f"},
	{"auth-token", "grep :_auth§Token ."},
	{"token", "vault login -method=oidc"},
	{"high-entropy", "GIT_COMMIT={h40} make"},
	{"high-entropy", "x --digest=sha256:{h64}"},
	{"high-entropy", "x --path=/usr/local/lib/PythonFramework3/Versions2/Current"},
	{"high-entropy", "npm i --integrity=sha512-{b86}=="},
	{"high-entropy", "make test RACE=1 && go build -ldflags=-X=main.version=1.2.3"},
}

func TestSecretsAreReplaced(t *testing.T) {
	for _, c := range secrets {
		marked := expand(c.text)
		before, tail, _ := strings.Cut(marked, "«")
		secret, after, ok := strings.Cut(tail, "»")
		if !ok {
			t.Fatalf("%s: example without « »: %s", c.name, c.text)
		}
		got, found := Default().Text(before + secret + after)
		if want := before + Placeholder(c.name) + after; got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
		if len(found) != 1 || found[0] != (Finding{Name: c.name, Bytes: len(secret)}) {
			t.Errorf("%s: found %v, want one of %d bytes", c.text, found, len(secret))
		}
	}
}

func TestPlainTextStays(t *testing.T) {
	for _, c := range plain {
		in := expand(c.text)
		if got, found := Default().Text(in); got != in || found != nil {
			t.Errorf("%s: %s\nbecame %s", c.name, in, got)
		}
	}
}

func TestEveryRuleHasATrueAndAFalseExample(t *testing.T) {
	is, not := map[string]bool{}, map[string]bool{}
	for _, c := range secrets {
		is[c.name] = true
	}
	for _, c := range plain {
		not[c.name] = true
	}
	for _, f := range formatsOnce() {
		is[f.name], not[f.name] = true, true // TestFormats
	}
	for _, name := range kinds() {
		if !is[name] || !not[name] {
			t.Errorf("%s: true example: %t, false example: %t", name, is[name], not[name])
		}
	}
}

// TestFormats checks that each format finds exactly what its notation describes, under its own
// name.
func TestFormats(t *testing.T) {
	for _, f := range formatsOnce() {
		token, short := "", ""
		for i, p := range f.parts {
			if p.text != "" {
				token, short = token+p.text, short+p.text
				continue
			}
			whole := ""
			for c := 0; len(whole) < max(p.min, 1); c = (c + 53) % 256 {
				if inClass(byte(c), p.of) && inClass(byte(c), alnum) && c != 'x' {
					whole += string(rune(c))
				}
			}
			whole = whole[:p.min]
			token += whole
			if i == len(f.parts)-1 && p.min > 1 {
				whole = whole[:p.min-1]
			}
			short += whole
		}
		for _, before := range []string{"", "x ", `{"a":"`, "y="} {
			got, found := Default().Text(before + token + ` "`)
			if len(found) != 1 {
				t.Errorf("%s: %q became %q, found %v", f.name, token, got, found)
			} else if n := found[0].Name; n != f.name && f.name != "openai-key" {
				t.Errorf("%s: %q was taken for %s", f.name, token, n)
			}
		}
		if got, found := Default().File("x " + short + " y"); token != short && len(found) > 0 && found[0].Name == f.name {
			t.Errorf("%s: too short, %q became %q", f.name, short, got)
		}
	}
}

func TestTwiceIsOnce(t *testing.T) {
	for _, c := range secrets {
		once, _ := Default().Text(strings.NewReplacer("«", "", "»", "").Replace(expand(c.text)))
		if twice, found := Default().Text(once); twice != once || found != nil {
			t.Errorf("%s\n once %s\ntwice %s", c.name, once, twice)
		}
	}
}

// TestSecondPass checks a text that needs two passes: the placeholder of the first leaves another
// program on the line.
func TestSecondPass(t *testing.T) {
	const in, want = "password=echo mysql -phunter2", "password=[redacted:password] mysql -p[redacted:password]"
	once, found, _ := Default().pass(t.Context(), in, texts)
	if strings.Contains(once, want) || len(found) != 1 {
		t.Fatalf("one pass gives %q: the example shows nothing", once)
	}
	got, found := Default().Text(in)
	if got != want || len(found) != 2 {
		t.Errorf("got %q, found %v; want %q", got, found, want)
	}
	if again, found := Default().Text(got); again != got || found != nil {
		t.Errorf("the second time %q, found %v", again, found)
	}
}

// TestPastedKey checks a key that is pasted at a prompt and arrives line by line, each as a
// command.
func TestPastedKey(t *testing.T) {
	for _, c := range []struct {
		line string
		gone bool
	}{
		{"{b64}", true},
		{"{b70}", true},
		{"  {b64}", true},
		{"{b22}==", true},
		{"{h64}", false},
		{"{h40}", false},
		{"/usr/share/doc/Python3/Lib2/site/packages/x/y/z/aBcD1/eFgH2/iJkL3", false},
		{"make", false},
		{"{b64} x", false},
	} {
		line := expand(c.line)
		if got, _ := Default().Command(line); strings.Contains(got, strings.TrimSpace(line)) == c.gone {
			t.Errorf("%q became %q", line, got)
		}
	}
}

func TestFile(t *testing.T) {
	in := expand("package a\n\nconst token = \"gh§p_{A36}\"\nvar key = `-----BEGIN PRI§VATE KEY-----\n{b64}\n{b20}\n-----END PRI§VATE KEY-----`\nvar password = \"hunter2\"\n")
	want := "package a\n\nconst token = \"[redacted:github-token]\"\nvar key = `[redacted:private-key]\n\n\n`\nvar password = \"hunter2\"\n"
	got, found := Default().File(in)
	if got != want || len(found) != 2 || found[0].Line != 3 || found[1].Line != 4 {
		t.Errorf("got %q, found %v", got, found)
	}
	if again, found := Default().File(got); again != got || found != nil {
		t.Errorf("the second time %q, found %v", again, found)
	}
}

func TestOverlapsBecomeOne(t *testing.T) {
	in := expand("export GITHUB_TOKEN=gh§p_{A36} && echo gh§p_{A36}")
	got, _ := Default().Text(in)
	want := "export GITHUB_TOKEN=[redacted:github-token] && echo [redacted:github-token]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFindingsThatOverlap checks that a finding that begins inside another one and ends after it is
// part of the same secret.
func TestFindingsThatOverlap(t *testing.T) {
	r, err := New(Options{Extra: []Rule{{Name: "first", Pattern: "key-[a-z]+"}, {Name: "second", Pattern: "tail[0-9]+"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, found := r.Text("use key-abctail123 now")
	if want := "use [redacted:first] now"; got != want || len(found) != 1 || found[0].Bytes != len("key-abctail123") {
		t.Errorf("got %q, found %v", got, found)
	}
}

func TestExtraRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redact.yaml")
	file := "rules:\n  - name: acme-pin\n    pattern: 'pin[:=]([0-9]{6})'\n    group: 1\n  - name: acme\n    pattern: '(?i)ACME_[a-z0-9]{8}'\n    literals: [acme_]\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := r.Text("x pin:123456 acme_ABCDEFGH --password acme_ABCDEFGH")
	if want := "x pin:[redacted:acme-pin] [redacted:acme] --password [redacted:acme]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	for _, bad := range []struct{ why, file, want string }{
		{"misspelt field", "rules:\n  - nam: a\n", `unknown field "nam"`},
		{"bad pattern", "rules:\n  - {name: a, pattern: '('}\n", `rule "a": pattern`},
		{"bad name", "rules:\n  - {name: 'A b', pattern: 'x'}\n", "must match"},
		{"no such group", "rules:\n  - {name: a, pattern: 'x', group: 1}\n", "the pattern has 0"},
	} {
		if err := os.WriteFile(path, []byte(bad.file), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Load(path)
		if err == nil {
			_, err = New(o)
		}
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want %q", bad.why, err, bad.want)
		}
	}
}

// TestLinear gives the rules texts that are made to be slow: what the rules search for, repeated
// without an end. Reading on from each place to the end of the text would take minutes; the limit
// allows a hundred times the time that a slow machine needs.
func TestLinear(t *testing.T) {
	for _, u := range hostile {
		text := strings.Repeat(u, 256<<10/len(u))
		began := cputime.Used()
		Default().Text(text)
		if took := cputime.Used() - began; took > 15*time.Second {
			t.Errorf("%q: %v for %d bytes", u, took, len(text))
		}
	}
}

// hostile are texts that cause much reading ahead without a match, or many matches.
var hostile = []string{
	"--password a ", "--password ", "password=", "password=\"", "password='x\\\"", "token: ", "a=", "mysql ", "mysql -p'", "mysql \"", "mysql $(",
	"curl -u ", "echo x | ", "echo x |", "://a:", "://a@", "eyJ", "eyJaaaaaaaaaa.", "sk-", "hf_", "authorization:", "authorization: a ", "cookie:", "bearer ",
	"-----BEGIN RSA PRI" + "VATE KEY-----\n" + strings.Repeat("A", 40), "-----END PRI" + "VATE KEY-----", "AAAA\n", "kind: secret\n", ".pgpass\na:1:b:c:d\n",
	"identified by ", "auth=(\"", "<token>", "<token>\n", "x-api-key:", "set a_token ", "docker login -p x ", "[redacted:x]", "[redacted:", "dp.st.a", "<<< a ", "k8s -us1", "'", "\\\"",
	"password=hunt'er'", "password=a'b", "pwpwpw-pw", "keykeykey", "passpasspass",
}

func TestTextContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Default().TextContext(ctx, strings.Repeat("--password a ", stride)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// endsAfter is a context that ends after its error was requested a given number of times.
type endsAfter struct {
	context.Context
	asks int
}

func (e *endsAfter) Err() error {
	if e.asks--; e.asks < 0 {
		return context.Canceled
	}
	return nil
}

// TestTextContextEndsWithin checks that a cancelled request ends while its text is read, not after
// it.
func TestTextContextEndsWithin(t *testing.T) {
	ctx := &endsAfter{t.Context(), 2} // the first call is before the pass, the second at the first stride
	if _, _, err := Default().TextContext(ctx, strings.Repeat("--password a ", stride)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if ctx.asks < -1 {
		t.Errorf("asked %d times more after the context had ended", -1-ctx.asks)
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, u := range hostile {
		b.Run(strings.ReplaceAll(u[:min(len(u), 12)], "\n", "."), func(b *testing.B) {
			text := strings.Repeat(u, 1<<20/len(u))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Default().Text(text)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, c := range secrets {
		f.Add(strings.NewReplacer("«", "", "»", "").Replace(expand(c.text)))
	}
	for _, c := range plain {
		f.Add(expand(c.text))
	}
	f.Add("--password=a[redacted:x]b [redacted:[redacted:y]]")
	r := Default()
	f.Fuzz(func(t *testing.T, s string) {
		once, found := r.Text(s)
		if (once == s) != (len(found) == 0) {
			t.Fatalf("found %v, but %q became %q", found, s, once)
		}
		if twice, _ := r.Text(once); twice != once {
			t.Fatalf("%q\nonce  %q\ntwice %q", s, once, twice)
		}
	})
}

func BenchmarkUsualCommand(b *testing.B) {
	for _, c := range []string{
		"git status",
		"go test ./pipeline/... -run TestProduce -count=1 -race 2>&1 | tail -40",
		"docker run --rm -it -v $(pwd):/src -w /src -p 8080:80 -e MODE=dev registry.example.com/team/app:1.2.3 make serve",
		"kubectl -n prod get pods -l app=checkout -o jsonpath='{.items[*].metadata.name}'",
		"curl -fsSL https://example.com/install.sh | bash -s -- --yes",
	} {
		b.Run(c[:10], func(b *testing.B) {
			for b.Loop() {
				Default().Text(c)
			}
		})
	}
}

// kinds returns the kinds of secrets that the built-in rules know, without duplicates.
func kinds() []string {
	names := append([]string{"high-entropy", "password", "secret", "token"}, placeNames...)
	for _, f := range formatsOnce() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
