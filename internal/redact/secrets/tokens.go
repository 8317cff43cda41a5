package secrets

import "strings"

// tokens are formats that say by themselves what they are. Where a format is a
// variant of another (Anthropic's keys begin like OpenAI's), the narrower one
// stands first.
//
// Adding one: a line here, and a true and a false example in redact_test.go,
// which fails for a rule without both. Assemble the true one from parts there,
// so that nobody's secret scanner stops at this repository.
var tokens = []builtin{
	{name: "private-key", literals: []string{"private key"}, pattern: `-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----` +
		`(?:[A-Za-z0-9+/=\s\\:,.()@<>]|-[A-Za-z0-9]){32,}(?:-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----)?`},
	// The end of a key, where the text is the tail of an output.
	{name: "private-key", literals: []string{"private key"}, pattern: `[A-Za-z0-9+/=\s]{40,}-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----`},
	{name: "age-key", literals: []string{"age-secret-key-1"}, pattern: `AGE-SECRET-KEY-1[0-9A-Z]{58}`},

	{name: "aws-access-key", literals: []string{"akia", "asia", "abia", "acca"}, pattern: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`},
	{name: "aws-secret-key", literals: []string{"secret"}, pattern: `(?i)\baws_?secret_?(?:access_?)?key["']?(?:\s*[=:]\s*|\s+)["']?([A-Za-z0-9/+]{40})`},
	{name: "azure-key", literals: []string{"accountkey=", "sharedaccesskey="}, pattern: `(?i)\b(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,88}={0,2})`},
	{name: "azure-sas", literals: []string{"sig="}, pattern: `[?&]sig=([A-Za-z0-9%+/]{40,}={0,2})`},
	{name: "azure-client-secret", literals: []string{"q~"}, pattern: `\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}`},
	{name: "google-api-key", literals: []string{"aiza"}, pattern: `\bAIza[0-9A-Za-z_-]{35}`},
	{name: "google-oauth-token", literals: []string{"ya29."}, pattern: `\bya29\.[0-9A-Za-z_-]{20,}`},
	{name: "google-client-secret", literals: []string{"gocspx-"}, pattern: `\bGOCSPX-[A-Za-z0-9_-]{28}`},
	{name: "digitalocean-token", literals: []string{"_v1_"}, pattern: `\bdo[opr]_v1_[a-f0-9]{64}`},
	{name: "heroku-key", literals: []string{"hrku-"}, pattern: `\bHRKU-[A-Za-z0-9_-]{36,}`},
	{name: "fly-token", literals: []string{"flyv1 ", "fm1_", "fm2_"}, pattern: `\bfm[12][ar]?_[A-Za-z0-9+/=_-]{40,}`},
	{name: "tailscale-key", literals: []string{"tskey-"}, pattern: `\btskey-[a-z]+-[A-Za-z0-9]+-?[A-Za-z0-9]{16,}`},
	{name: "cloudflare-key", literals: []string{"v1.0-"}, pattern: `\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}`},

	{name: "github-token", literals: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: `gh[pousr]_[A-Za-z0-9]{36,255}`},
	{name: "github-token", literals: []string{"github_pat_"}, pattern: `github_pat_[A-Za-z0-9_]{22,255}`},
	{
		name: "gitlab-token", literals: []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-"},
		pattern: `\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,}`,
	},
	{name: "recount-token", literals: []string{"rct_"}, pattern: `\brct_[A-Za-z0-9_-]{43}`},
	{name: "npm-token", literals: []string{"npm_"}, pattern: `\bnpm_[A-Za-z0-9]{36}`},
	{name: "pypi-token", literals: []string{"pypi-age"}, pattern: `\bpypi-AgE[A-Za-z0-9_-]{50,}`},
	{name: "rubygems-key", literals: []string{"rubygems_"}, pattern: `\brubygems_[a-f0-9]{48}`},
	{name: "docker-token", literals: []string{"dckr_pat_", "dckr_oat_"}, pattern: `\bdckr_[po]at_[A-Za-z0-9_-]{27,}`},
	{name: "terraform-token", literals: []string{".atlasv1."}, pattern: `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}`},
	{name: "vault-token", literals: []string{"hvs.", "hvb.", "hvr."}, pattern: `\bhv[sbr]\.[A-Za-z0-9_-]{24,}`},
	{name: "pulumi-token", literals: []string{"pul-"}, pattern: `\bpul-[a-f0-9]{40}`},
	{name: "doppler-token", literals: []string{"dp."}, pattern: `\bdp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`},
	{name: "1password-token", literals: []string{"ops_eyj"}, pattern: `\bops_eyJ[A-Za-z0-9+/=_-]{100,}`},
	{name: "atlassian-token", literals: []string{"atatt3", "atctt3"}, pattern: `\bAT[AC]TT3[A-Za-z0-9_=-]{60,}`},
	{name: "linear-key", literals: []string{"lin_api_", "lin_oauth_"}, pattern: `\blin_(?:api|oauth)_[A-Za-z0-9]{40,}`},
	{name: "notion-token", literals: []string{"ntn_"}, pattern: `\bntn_[A-Za-z0-9]{40,}`},
	{name: "postman-key", literals: []string{"pmak-"}, pattern: `\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}`},
	{name: "sentry-token", literals: []string{"sntrys_", "sntryu_"}, pattern: `\bsntry[su]_[A-Za-z0-9+/=_-]{60,}`},
	{name: "grafana-token", literals: []string{"glsa_", "glc_ey"}, pattern: `\b(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_ey[A-Za-z0-9+/=]{32,})`},
	{name: "newrelic-key", literals: []string{"nrak-", "nrjs-", "nraa-"}, pattern: `\bNR(?:AK|JS|AA)-[A-Za-z0-9]{19,32}`},
	{name: "databricks-token", literals: []string{"dapi"}, pattern: `\bdapi[a-f0-9]{32}`},
	{name: "planetscale-token", literals: []string{"pscale_"}, pattern: `\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}`},
	{name: "supabase-token", literals: []string{"sbp_"}, pattern: `\bsbp_[a-f0-9]{40}`},

	{name: "slack-token", literals: []string{"xox"}, pattern: `\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}`},
	{name: "slack-token", literals: []string{"xapp-"}, pattern: `\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{16,}`},
	{name: "slack-webhook", literals: []string{"hooks.slack.com/"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`},
	{name: "discord-webhook", literals: []string{"/api/webhooks/"}, pattern: `discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{40,})`},
	{name: "telegram-token", literals: []string{":aa"}, pattern: `[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`},
	{name: "twilio-key", literals: []string{"sk"}, pattern: `\bSK[0-9a-f]{32}\b`},
	{name: "sendgrid-key", literals: []string{"sg."}, pattern: `\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`},
	{name: "mailgun-key", literals: []string{"key-"}, pattern: `\bkey-[0-9a-f]{32}\b`},
	{name: "mailchimp-key", literals: []string{"-us"}, pattern: `\b[0-9a-f]{32}-us[0-9]{1,2}\b`},
	{name: "stripe-key", literals: []string{"k_live_", "k_test_"}, pattern: `\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`},
	{name: "stripe-webhook-secret", literals: []string{"whsec_"}, pattern: `\bwhsec_[A-Za-z0-9+/=]{24,}`},
	{name: "shopify-token", literals: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern: `\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`},
	{name: "square-token", literals: []string{"sq0atp-", "sq0csp-"}, pattern: `\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}`},

	{name: "anthropic-key", literals: []string{"sk-ant-"}, pattern: `(?:^|[^A-Za-z0-9_-])(sk-ant-[A-Za-z0-9_-]{20,})`},
	{name: "openai-key", literals: []string{"sk-"}, pattern: `(?:^|[^A-Za-z0-9_-])(sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,})`, accept: mixed},
	{name: "huggingface-token", literals: []string{"hf_"}, pattern: `\bhf_[A-Za-z0-9]{34,}`},
	{name: "huggingface-token", literals: []string{"api_org_"}, pattern: `\bapi_org_[A-Za-z0-9]{34,}`},
	{name: "groq-key", literals: []string{"gsk_"}, pattern: `\bgsk_[A-Za-z0-9]{48,}`},
	{name: "xai-key", literals: []string{"xai-"}, pattern: `\bxai-[A-Za-z0-9]{60,}`},
	{name: "replicate-token", literals: []string{"r8_"}, pattern: `\br8_[A-Za-z0-9]{37}`},
	{name: "perplexity-key", literals: []string{"pplx-"}, pattern: `\bpplx-[A-Za-z0-9]{40,}`},

	{name: "jwt", literals: []string{"eyj"}, pattern: `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
}

// mixed reports whether s has a digit and letters of both cases, or a digit in
// a long run without hyphens: what keys have and names of branches have not.
func mixed(s string) bool {
	var digit, up, low bool
	run, longest := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digit = true
		case 'A' <= c && c <= 'Z':
			up = true
		case 'a' <= c && c <= 'z':
			low = true
		}
		if s[i] == '-' {
			run = 0
		} else {
			run++
		}
		longest = max(longest, run)
	}
	return digit && (up && low || longest >= 20)
}

// reference reports whether a value is not a secret but says where one is: a
// variable, a substitution, a slot of a template; or a word that no secret is.
func reference(v string) bool {
	switch {
	case v == "" || strings.Trim(v, "*") == "" || strings.Trim(v, ".") == "" || strings.Trim(v, "-") == "" || strings.Trim(v, "xX") == "":
		return true
	case v[0] == '$' || v[0] == '`' || v[0] == '<' || v[0] == '%' && v[len(v)-1] == '%':
		return true
	case strings.HasPrefix(v, "{{") || strings.HasPrefix(v, `\$`):
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "nil", "yes", "no", "on", "off", "undefined", "string", "str", "required", "optional", "prompt", "stdin", "env":
		return true
	}
	return false
}

// secretValue accepts a value where the place says that it is a secret.
func secretValue(v string) bool { return !reference(v) }

// secretNotPath accepts it unless it is a path: a file that holds the secret.
func secretNotPath(v string) bool {
	for _, p := range []string{"/", "./", "../", "~/", "file:", "@/", "@./"} {
		if strings.HasPrefix(v, p) {
			return false
		}
	}
	return !reference(v)
}
