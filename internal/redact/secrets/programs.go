package secrets

// programs are the programs whose own arguments contain secrets. A line has the programs, then the
// words that must follow in this order for the line to apply, and then where the secrets are:
//
//	-p_     the next word, or what follows -p=        -p+   attached: -pX
//	-p*     both                                      -u:   the same, after a colon: user:X
//	-U% -u, after a percent sign, a comma             -f~   after the first =: key=X
//	-b&     a cookie, if it has a =                   word_ the word after word
//	AUTH>   the last word after AUTH; a word that ends in . may continue
//	@2      the second word that is not a flag        $     the last of them
//	@2:     the part of it after a colon              =     key=X, for any key
//	N       the word after a secret's name            <     the input from <<<
//	|       the input piped from echo or printf       <: |: the part of those after a colon
//	/       user/X@database                           ?b    only if there is a flag with b
//	?word   only if that word is present              !-h   -h takes a word that is not counted
//
// and, unless it is password, the kind of the secret.
var programs = []string{
	"mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mariadb mariadb-dump mariadb-admin mycli;;-p+",
	"mysqladmin mariadb-admin;password;@1",
	"mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop cqlsh cypher-shell;;-p_",
	"redis-cli valkey-cli;;-a_ AUTH> requirepass_ masterauth_",
	"sqlplus expdp impdp rman sqlldr;;/",
	"sqlcmd bcp;;-P*",
	"docker podman buildah skopeo helm oras nerdctl crane regctl az oc cf ibmcloud;login;-p_",
	"docker podman;secret create;| <",
	"skopeo podman buildah;;--creds: --src-creds: --dest-creds:",
	"kubectl oc;create secret;--from-literal~",
	"curl;;-u: --user: --proxy-user: -U: -b& --cookie& --oauth2-bearer_",
	"http https xh;;-a: --auth:",
	"http https xh;;?bearer -a_ --auth_",
	"smbclient rpcclient smbget net;;-U% --user%",
	"net;user;@2", "net;use;@3",
	"sshpass;;-p*", "ssh-keygen;;-N_ -P_",
	"sudo;;?-S | <",
	"chpasswd;;|: <:",
	"passwd kinit cryptsetup;;| <", "gpg gpg2;;?--passphrase-fd | <", "read;;?s <",
	"useradd usermod;;-p_",
	"htpasswd;;?b $", "mosquitto_passwd;;?b $",
	"openssl;enc;-k_", "openssl;passwd;!-salt !-in !-out @1",
	"zip unzip;;-P*", "7z 7za 7zr 7zz rar unrar;;-p+", "pdftk;;user_pw_ owner_pw_ input_pw_",
	"keytool jarsigner;;-storepass_ -keypass_ -srcstorepass_ -deststorepass_ -srckeypass_ -destkeypass_",
	"ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ldapcompare;;-w*", "ldappasswd;;-s*",
	"snmpwalk snmpget snmpgetnext snmpset snmpbulkwalk snmpbulkget snmptable;;-A_ -X_",
	"ipmitool;;-P_ -K_", "xfreerdp wlfreerdp xfreerdp3 wlfreerdp3 sdl-freerdp;;/p:+",
	"lftp;;-u,", "ncftp ncftpput ncftpget;;-p_", "wpa_passphrase;;@2",
	"nmcli;;password_ wifi-sec.psk_ 802-11-wireless-security.psk_ wifi-sec.wep-key0_",
	"mosquitto_pub mosquitto_sub mosquitto_rr;;-P_ --pw_",
	"rabbitmqctl;add_user;@2", "rabbitmqctl;change_password;@2", "rabbitmqctl;authenticate_user;@2",
	"vault;login;!-address !-namespace !-path @1;token", "vault;kv put;=", "vault;kv patch;=", "vault;operator unseal;@1;token", "vault;unseal;@1;token", "vault;write;N",
	"consul etcdctl;put;N",
	"aws;secretsmanager;--secret-string_", "aws;put-parameter;?SecureString --value_",
	"az;keyvault secret set;--value_", "az;sql server;-p_", "az;vm create;N",
	"gcloud;secrets;| <",
	"gh;secret set;-b_ --body_ | <", "gh glab;auth login;| < -t_;token", "glab;variable set;N -v_ --value_",
	"pulumi;config set;?--secret @2", "npm yarn pnpm bundle composer git aws poetry pulumi heroku fish gitlab;config;N", "git aws;configure;N",
	"poetry composer;config;http-basic.> pypi-token.> gitlab-token.> github-oauth.>", "bundle;config set;@2:",
	"vercel;env add;| <", "wrangler;secret put;| <", "fly flyctl;secrets set;=",
	"twine;upload;-p_", "cargo;login;@1;token", "nuget;setapikey;@1;token", "dotnet;nuget;-p_ -k_", "dotnet;user-secrets set;@2",
	"doctl;auth init;-t_;token", "ngrok;authtoken;@1;token", "ngrok;add-authtoken;@1;token", "snyk;auth;@1;token",
	"mc mcli;alias set;@4", "mc mcli;config host add;@4", "rclone;obscure;@1", "rclone;config;pass_ N",
	"restic borg;;--password-command!", "ansible-vault;encrypt_string;!-n !--name !--vault-id @1",
	"grafana-cli grafana;reset-admin-password;@1", "java;;-auth:", "sonar-scanner mvn gradle;;-Dsonar.login=+",
	"set setenv export;;N", "convertto-securestring;;-string_ @1",
}
