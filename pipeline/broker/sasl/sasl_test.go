package sasl

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
)

func testAuthenticator(t testing.TB, mechanisms ...string) *Authenticator {
	t.Helper()
	c, err := NewCredential("secret")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Users: map[string]Credential{"ann": c}, Mechanisms: mechanisms}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := NewAuthenticator(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPlain(t *testing.T) {
	a := testAuthenticator(t)
	for _, tt := range []struct {
		name, token, user, err string
	}{
		{"the right password", "\x00ann\x00secret", "ann", ""},
		{"for oneself, in so many words", "ann\x00ann\x00secret", "ann", ""},
		{"for another", "bob\x00ann\x00secret", "", "acting for another"},
		{"a wrong password", "\x00ann\x00Secret", "", "wrong user or password"},
		{"an unknown user", "\x00bob\x00secret", "", "wrong user or password"},
		{"an empty password", "\x00ann\x00", "", "wrong user or password"},
		{"an empty token", "", "", "PLAIN token"},
		{"four parts", "\x00ann\x00secret\x00", "", "PLAIN token"},
		{"a password that SASLprep forbids", "\x00ann\x00\u0007", "", "wrong user or password"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, user, err := a.Begin(Plain, false).Step([]byte(tt.token))
			if user != tt.user || (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %q, %v; want %q, %q", user, err, tt.user, tt.err)
			}
		})
	}
}

// talk runs a SCRAM exchange between the library's client and this server.
func talk(x *Exchange, h scram.HashGeneratorFcn, user, password string) (string, error) {
	client, err := h.NewClient(user, password, "")
	if err != nil {
		return "", err
	}
	conv := client.NewConversation()
	var said []byte
	for {
		token, err := conv.Step(string(said))
		if err != nil {
			return "", fmt.Errorf("client: %w", err)
		}
		if conv.Done() {
			return "", fmt.Errorf("the client was done before the server")
		}
		answer, user, err := x.Step([]byte(token))
		if err != nil {
			return "", err
		}
		if user != "" {
			// The client must accept the server's proof, too.
			_, err := conv.Step(string(answer))
			return user, err
		}
		said = answer
	}
}

func TestScram(t *testing.T) {
	a := testAuthenticator(t)
	for mechanism, h := range map[string]scram.HashGeneratorFcn{ScramSHA256: scram.SHA256, ScramSHA512: scram.SHA512} {
		t.Run(mechanism, func(t *testing.T) {
			if user, err := talk(a.Begin(mechanism, false), h, "ann", "secret"); user != "ann" || err != nil {
				t.Errorf("right password: %q, %v", user, err)
			}
			wrong, other := error(nil), error(nil)
			if _, wrong = talk(a.Begin(mechanism, false), h, "ann", "guess"); wrong == nil {
				t.Error("a wrong password was taken")
			}
			if _, other = talk(a.Begin(mechanism, false), h, "bob", "secret"); other == nil {
				t.Error("an unknown user was taken")
			}
			if wrong != nil && other != nil && wrong.Error() != other.Error() {
				t.Errorf("a wrong password and an unknown user can be told apart: %q and %q", wrong, other)
			}
		})
	}
}

// TestScramUnknownUserLooksKnown checks that the salt of an unknown user does not change between
// attempts, which would reveal that the name does not exist.
func TestScramUnknownUserLooksKnown(t *testing.T) {
	a := testAuthenticator(t)
	salt := func(user string) string {
		answer, _, err := a.Begin(ScramSHA256, false).Step([]byte("n,,n=" + user + ",r=nonce"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(answer), ",")[1]
	}
	first, second, other := salt("bob"), salt("bob"), salt("eve")
	if first != second || first == other {
		t.Errorf("salts %s and %s of one name, %s of another", first, second, other)
	}
}

func TestMechanisms(t *testing.T) {
	a := testAuthenticator(t, ScramSHA256)
	if a.Begin(Plain, false) != nil || a.Begin(ScramSHA512, false) != nil || a.Begin("GSSAPI", false) != nil || a.Begin("", false) != nil {
		t.Error("a mechanism that is not offered was begun")
	}
	if a.Begin(ScramSHA256, false) == nil {
		t.Error("the one that is offered was not")
	}
}

func TestSASLOptionsValidate(t *testing.T) {
	c, err := NewCredential("x")
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		`SASL.Mechanisms has "MD5"`:          {Mechanisms: []string{"MD5"}},
		`SASL.Users has the name ""`:         {Users: map[string]Credential{"": c}},
		`"ann" has no credential`:            {Users: map[string]Credential{"ann": {}}},
		`SASL.Users has the name "a\x00b"`:   {Users: map[string]Credential{"a\x00b": c}},
		`SASL.Users has the name "\xffname"`: {Users: map[string]Credential{"\xffname": c}},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := NewCredential(""); err == nil {
		t.Error("an empty password was taken")
	}
}

// TestCredentialHidesThePassword checks that a credential, which is all that is kept, does not
// contain the password.
func TestCredentialHidesThePassword(t *testing.T) {
	c, err := NewCredential("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewCredential("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%+v", c), "horse") {
		t.Error("the password can be read in the credential")
	}
	if bytes.Equal(c.sha256.StoredKey, d.sha256.StoredKey) {
		t.Error("the same password twice gave the same keys: there is no salt")
	}
}

// TestScramNonce checks that the doubled nonce of librdkafka before 2.6.1 is accepted, and that a
// nonce that does not end in the server's, which belongs to another exchange, is refused.
func TestScramNonce(t *testing.T) {
	a := testAuthenticator(t)
	for _, tt := range []struct {
		name, before, after string
		ok                  bool
	}{
		{"as it should be", "", "", true},
		{"the client's twice", "nonce", "", true},
		{"more behind it", "", "x", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := a.Begin(ScramSHA256, false)
			first, _, err := x.Step([]byte("n,,n=ann,r=nonce"))
			if err != nil {
				t.Fatal(err)
			}
			nonce := strings.TrimPrefix(strings.Split(string(first), ",")[0], "r=")
			final := "c=biws,r=" + tt.before + nonce + tt.after
			stored := a.users["ann"].sha256
			salted, err := pbkdf2.Key(sha256.New, "secret", []byte(stored.Salt), stored.Iters, sha256.Size)
			if err != nil {
				t.Fatal(err)
			}
			s := scramServer{hash: sha256.New}
			var proof []byte
			signature := s.mac(stored.StoredKey, []byte("n=ann,r=nonce,"+string(first)+","+final))
			for i, k := range s.mac(salted, []byte("Client Key")) {
				proof = append(proof, k^signature[i])
			}
			_, user, err := x.Step([]byte(final + ",p=" + base64.StdEncoding.EncodeToString(proof)))
			if (err == nil) != tt.ok || (user == "ann") != tt.ok {
				t.Errorf("user %q, %v; want ok %v", user, err, tt.ok)
			}
		})
	}
}

func TestScramRefusals(t *testing.T) {
	a := testAuthenticator(t)
	for name, msgs := range map[string][2]string{
		"nothing":                  {"", "no"},
		"channel binding":          {"p=tls-unique,,n=ann,r=x", ""},
		"for another":              {"n,a=bob,n=ann,r=x", ""},
		"no nonce":                 {"n,,n=ann,r=", ""},
		"no user":                  {"n,,m=ext,n=ann", ""},
		"a misspelt name":          {"n,,n=an=n,r=x", ""},
		"no proof":                 {"n,,n=ann,r=x", "c=biws,r=x"},
		"a proof that is too long": {"n,,n=ann,r=x", "c=biws,r=x,p=" + base64.StdEncoding.EncodeToString(make([]byte, 200))},
		"another channel binding":  {"n,,n=ann,r=x", "c=eSws,r=x,p=" + base64.StdEncoding.EncodeToString(make([]byte, 32))},
	} {
		t.Run(name, func(t *testing.T) {
			x := a.Begin(ScramSHA256, false)
			_, _, err := x.Step([]byte(msgs[0]))
			if err == nil && msgs[1] == "" {
				t.Fatal("the first message was taken")
			}
			if err == nil {
				_, _, err = x.Step([]byte(msgs[1]))
			}
			if err == nil || !strings.HasPrefix(err.Error(), "authentication failed: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzSASLTokens(f *testing.F) {
	long := base64.StdEncoding.EncodeToString(make([]byte, 200))
	for _, s := range [][2]string{
		{"n,,n=ann,r=abc", "c=biws,r=abc,p=" + long},
		{"n,,n=ann,r=abc", "c=biws,r=abc,p="},
		{",,,,", ""},
		{"n,a=bob,n=ann,r=x", "c=,r=,p="},
		{"\x00ann\x00secret", "\x00"},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	a := testAuthenticator(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, m := range []string{ScramSHA256, ScramSHA512} {
			x := a.Begin(m, false)
			if _, user, err := x.Step(first); err != nil || user != "" {
				if user != "" {
					t.Fatalf("%s: one token made %q", m, user)
				}
				continue
			}
			if _, user, _ := x.Step(second); user != "" {
				t.Fatalf("%s: guessed to be %q", m, user)
			}
		}
		x := a.Begin(Plain, false)
		if _, user, err := x.Step(first); user != "" && (err != nil || !bytes.HasSuffix(first, []byte("\x00ann\x00secret"))) {
			t.Fatalf("PLAIN: %q made %q", first, user)
		}
	})
}
