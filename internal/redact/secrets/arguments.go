package secrets

import "strings"

// A value as shells and configuration files write it: in double quotes, in
// single quotes, or bare. Each alternative is a group, so that quotes stay.
const (
	quoted = `"((?:[^"\\\n]|\\.)+)"|'([^'\n]+)'`
	value  = `(?:` + quoted + `|([^\s"'&|;<>()]+))`
	// rest runs over the words of one simple command.
	rest = `(?:[^|;&\n]*?\s)?`
)

// secretFlag is what names of flags end in that take a secret.
const secretFlag = `(?:password|passwd|passphrase|pass|pwd|secret|token|api-?key|access-?key|secret-?key|account-?key|auth-?key|client-?secret|api_key|api_token|auth_token|access_token|secret_key|client_secret|credential)`

// secretName is what names of variables and of fields end in that hold one.
const secretName = `(?:password|passwd|passphrase|[_-]pwd|[_-]pass|sshpass|cli_?auth|secret|token|credential|(?:api|access|secret|account|encryption|signing|auth|master|private|shared)[_-]?key)`

// secretWords are the literals of the rules that look for such names. They are
// as long as they can be: $(pwd) and sort --key are everywhere.
var secretWords = func() []string {
	words := []string{"password", "passwd", "passphrase", "_pwd", "-pwd", "_pass", "-pass", "sshpass", "cliauth", "cli_auth", "secret", "token", "credential"}
	for _, w := range []string{"api", "access", "account", "encryption", "signing", "auth", "master", "private", "shared"} {
		words = append(words, w+"key", w+"_key", w+"-key")
	}
	return words
}()

// arguments are places where a secret stands whatever it looks like.
var arguments = []builtin{
	// scheme://user:password@host, and a token in the place of the user.
	{name: "url-password", literals: []string{"://"}, also: "@", pattern: `[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'?#\[]*:([^\s/@"']+)@`, accept: urlPassword},
	{name: "url-token", literals: []string{":x-oauth-basic@"}, pattern: `://([^\s/:@"']+):x-oauth-basic@`, accept: secretValue},

	// HTTP headers, in curl's arguments as well as in what a program printed.
	{name: "authorization", literals: []string{"authorization"}, pattern: `(?i)authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|apikey|digest|negotiate|bot|aws4-hmac-sha256)\s+([^\s"']+)`, accept: secretValue},
	{name: "authorization", literals: []string{"authorization"}, pattern: `(?i)authorization["']?\s*[:=]\s*["']?([^\s"']{16,})`, accept: secretValue},
	{name: "bearer", literals: []string{"bearer "}, pattern: `(?i)\bbearer\s+([A-Za-z0-9_.~+/=-]{16,})`, accept: mixed},
	{name: "api-key", literals: []string{"-key", "-token"}, pattern: `(?i)\b(?:x-)?(?:api-key|apikey|auth-token|auth-key|private-token|vault-token|gitlab-token|goog-api-key|amz-security-token|csrf-token)["']?\s*:\s*["']?([^\s"',}]+)`, accept: secretValue},
	{name: "cookie", literals: []string{"cookie:"}, pattern: `(?i)\b(?:set-)?cookie:[ \t]*([^"'\r\n]+)`, accept: secretValue},

	// --password X, --api-key=X, and with one hyphen as Java's and Go's tools
	// have it. A flag that goes on, like --password-stdin or --token-file, is
	// another flag.
	{name: "password", literals: []string{"-pass", "-pwd"}, pattern: `(?i)(?:^|[\s"'=])--?(?:[a-z0-9]+[-_])*(?:password|passwd|passphrase|pass|pwd)(?:=|\s+)` + value, accept: flagValue},
	{name: "secret", literals: secretWords, pattern: `(?i)(?:^|[\s"'=])--?(?:[a-z0-9]+[-_])*` + secretFlag + `(?:=|\s+)` + value, accept: flagValue},

	// NAME=value as the shell has it: no space on either side.
	{name: "password", literals: []string{"password", "passwd", "passphrase", "_pwd", "-pwd", "_pass", "-pass", "sshpass"}, also: "=", pattern: `(?i)(?:password|passwd|passphrase|[_-]pwd|[_-]pass|sshpass)["']?=` + value, accept: secretNotPath},
	{name: "password", literals: []string{"pwd="}, pattern: `(?i);\s*pwd=([^;\s"']+)`, accept: secretNotPath},
	{name: "secret", literals: secretWords, also: "=", pattern: `(?i)` + secretName + `["']?=` + value, accept: secretNotPath},
	// name: value and name = value as configuration files have it. Here prose and
	// code look alike, so the value must be quoted or look like a key.
	{name: "secret", literals: secretWords, pattern: `(?i)` + secretName + `["']?[ \t]*[:=][ \t]*(?:` + quoted + `)`, accept: literalValue},
	{name: "secret", literals: secretWords, pattern: `(?i)` + secretName + `["']?[ \t]*[:=][ \t]*([A-Za-z0-9_+/.=!@#%^*~-]{12,})`, accept: keyLike},
	{name: "auth-token", literals: []string{"_auth"}, pattern: `(?i):_(?:authToken|auth|password)(?:\s*=\s*|\s+)` + value, accept: secretNotPath},
	// Words of a command that sets something: aws configure set aws_secret_access_key X.
	{name: "secret", literals: []string{"config", "login"}, pattern: `(?i)\b(?:config|configure)\s+(?:set\s+|--global\s+|--local\s+)*[a-z0-9_./:-]*` + secretName + `\s+` + value, accept: flagValue},

	// Programs with a way of their own.
	{name: "password", literals: []string{"mysql", "mariadb", "mycli"}, also: "-p", pattern: `\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mysqlcheck|mysqlsh|mariadb|mariadb-dump|mariadb-admin|mycli)\s` + rest + `-p` + value, accept: attached},
	{name: "password", literals: []string{"sshpass"}, also: "-p", pattern: `\bsshpass\s` + rest + `-p\s*` + value, accept: secretValue},
	{name: "password", literals: []string{"login"}, also: "-p", pattern: `\b(?:docker|podman|buildah|skopeo|helm|oras|nerdctl|crane|az|oc|cf|ibmcloud)\s+(?:registry\s+|auth\s+)?login\s` + rest + `-p(?:\s+|=)` + value, accept: flagValue},
	{name: "password", literals: []string{"mongo"}, also: "-p", pattern: `\bmongo(?:sh|dump|restore|export|import|stat|top)?\s` + rest + `-p\s+` + value, accept: flagValue},
	{name: "password", literals: []string{"redis-cli", "valkey-cli"}, pattern: `\b(?:redis|valkey)-cli\s` + rest + `-a\s+` + value, accept: secretValue},
	{name: "password", literals: []string{"ldap"}, pattern: `\bldap(?:search|add|modify|delete|passwd|whoami|compare)\s` + rest + `-w\s*` + value, accept: flagValue},
	{name: "password", literals: []string{"zip"}, pattern: `\b(?:un)?zip\s` + rest + `-P\s*` + value, accept: secretValue},
	{name: "password", literals: []string{"7z"}, pattern: `\b7z[ar]?\s` + rest + `-p` + value, accept: secretValue},
	{name: "password", literals: []string{"pass:"}, pattern: `\s-{1,2}(?:pass|passin|passout|srcpass|deststorepass)\s+pass:` + value, accept: secretValue},
	{name: "password", literals: []string{"keytool", "jarsigner"}, pattern: `\s-(?:store|key|srcstore|deststore|srckey|destkey)pass\s+` + value, accept: flagValue},
	{name: "password", literals: []string{"curl"}, pattern: `\bcurl\s` + rest + `(?:-[a-zA-Z]*u|--user|--proxy-user|-U)[ =]*["']?[^\s:"']*:([^\s"']+)`, accept: secretValue},
	{name: "password", literals: []string{"-a ", "-a=", "--auth"}, also: "http", pattern: `\bhttps?\s` + rest + `(?:-a|--auth)[ =]["']?[^\s:"']*:([^\s"']+)`, accept: secretValue},
	{name: "cookie", literals: []string{"-b ", "-b=", "--cookie"}, also: "curl", pattern: `\bcurl\s` + rest + `(?:-b|--cookie)[ =]["']?([^\s"'=]+=[^\s"']+)`, accept: secretValue},
	{name: "password", literals: []string{"smbclient", "mount", "net "}, also: "%", pattern: `\b(?:smbclient|rpcclient|smbget|net)\s` + rest + `-U\s*["']?[^\s%"']+%([^\s"']+)`, accept: secretValue},
	{name: "password", literals: []string{"freerdp", "/p:"}, pattern: `\b[xw]l?freerdp3?\s` + rest + `/p:` + value, accept: secretValue},
	{name: "password", literals: []string{"sqlplus", "expdp", "impdp", "rman"}, also: "/", pattern: `\b(?:sqlplus|expdp|impdp|rman)\s` + rest + `["']?[A-Za-z0-9_$#]+/([^\s@"'/]+)@`, accept: secretValue},
	{name: "password", literals: []string{"sqlcmd", "bcp"}, pattern: `\b(?:sqlcmd|bcp)\s` + rest + `-P\s*` + value, accept: flagValue},
	{name: "password", literals: []string{"htpasswd"}, pattern: `\bhtpasswd\s` + rest + `-[a-zA-Z]*b[a-zA-Z]*\s+(?:-\S+\s+)*\S+\s+\S+\s+` + value, accept: secretValue},
	{name: "password", literals: []string{"ssh-keygen"}, pattern: `\bssh-keygen\s` + rest + `-[NP]\s*` + value, accept: flagValue},
	{name: "token", literals: []string{"vault login", "ngrok", "snyk auth", "infracost"}, pattern: `\b(?:vault\s+login|ngrok\s+(?:authtoken|config\s+add-authtoken)|snyk\s+auth)\s+(?:-\S+\s+)*([A-Za-z0-9_.-]{16,})`, accept: secretValue},
	{name: "password", literals: []string{"chpasswd"}, pattern: `\becho\s+(?:-\w+\s+)*["']?[^\s:"']+:([^\s"']+)["']?\s*\|\s*(?:sudo\s+)?chpasswd`, accept: secretValue},
	{name: "password", literals: []string{"stdin", "sudo"}, also: "|", pattern: `\b(?:echo|printf)\s+(?:-\w+\s+)*` + value + `\s*\|\s*(?:sudo\s+-S|[^|;&\n]*?--(?:password|token|pass)-stdin|[^|;&\n]*?sudo\s+-S)`, accept: secretValue},
	{name: "token", literals: []string{"--with-token"}, pattern: `\becho\s+` + value + `\s*\|\s*gh\s+auth\s+login`, accept: secretValue},
}

// urlPassword accepts what stands between the user and the host of a URL, but
// for the word that GitHub wants there when the user is the token.
func urlPassword(v string) bool { return v != "x-oauth-basic" && secretValue(v) }

// flagValue accepts the word after a flag: not the next flag, not a path, not
// the id=…,src=… of docker build --secret.
func flagValue(v string) bool {
	if v[0] == '-' || strings.HasPrefix(v, "id=") || strings.HasPrefix(v, "source=") || strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "pass:") {
		return false
	}
	return secretNotPath(v)
}

// attached accepts what follows -p without a space, but for the flags of other
// programs that a line with mysql in it may have: find / -name mysql -print.
func attached(v string) bool {
	switch v {
	case "rint", "rint0", "rune", "ort", "rotocol":
		return false
	}
	return secretValue(v)
}

// literalValue accepts a quoted value of a configuration file or of code.
func literalValue(v string) bool {
	return len(v) >= 4 && !strings.ContainsAny(v, " \t{}()") && secretNotPath(v)
}

// keyLike accepts a bare value that looks made rather than written.
func keyLike(v string) bool {
	return secretNotPath(v) && entropyBits(v) >= 3 && hasDigitAndLetter(v)
}

func hasDigitAndLetter(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	})
}
