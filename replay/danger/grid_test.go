package danger

import (
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// The grid: what is dangerous, in each form in which a shell may be told to run it. Beside each stands a call of the
// same program that is not, which no form may make dangerous.
//
// pairs has the dangerous call and the harmless one; their words are quoted with double quotes alone.
var pairs = [...][2]string{
	// Files, disks and the machine.
	{`rm -rf /srv/app`, `rm -rf build`},
	{`find /srv/app -name core -delete`, `find build -name core -delete`},
	{`mv /srv/app/data.db /srv/old.db`, `mv build/a build/b`},
	{`chmod -R 777 /srv/app`, `chmod -R u+w build`},
	{`chown -R app:app /srv/app`, `chown -R app:app build`},
	{`dd if=/dev/zero of=/dev/sdb bs=1M`, `dd if=/dev/zero of=build/x.img bs=1M`},
	{`mkfs.ext4 /dev/sdb1`, `mkfs.ext4 build/x.img`},
	{`wipefs -a /dev/sdb`, `wipefs --no-act -a /dev/sdb`},
	{`shred -u /srv/app/key.pem`, `shred -u build/key.pem`},
	{`truncate -s 0 /var/log/syslog`, `truncate -s 0 build/log`},
	{`cp build/hosts /etc/hosts`, `cp build/hosts build/etc/hosts`},
	{`tar -xzf build/a.tgz -C /etc`, `tar -xzf build/a.tgz -C build/etc`},
	{`sed -i s/a/b/ /etc/ssh/sshd_config`, `sed -i s/a/b/ build/sshd_config`},
	{`systemctl stop nginx`, `systemctl status nginx`},
	{`reboot now`, `uptime -p`},
	{`shutdown -h now`, `shutdown --help`},
	{`crontab -r`, `crontab -l`},
	{`userdel -r bob`, `id bob`},
	{`usermod -aG sudo bob`, `groups bob`},
	{`iptables -F`, `iptables -L`},
	{`ufw disable`, `ufw status`},
	{`killall nginx`, `pgrep nginx`},
	{`apt-get purge -y nginx`, `apt-get install -y nginx`},
	// What others have.
	{`git push --force origin main`, `git status --short`},
	{`git push origin --delete v1`, `git log --oneline`},
	{`npm publish --access public`, `npm publish --dry-run`},
	{`cargo publish --token x`, `cargo publish --dry-run`},
	{`twine upload dist/a.whl`, `twine check dist/a.whl`},
	{`docker push ghcr.io/acme/app:1`, `docker images ghcr.io/acme/app`},
	{`gh release delete v1 --yes`, `gh release view v1`},
	{`gh repo delete acme/app --yes`, `gh repo view acme/app`},
	// Clusters and providers.
	{`kubectl delete namespace shop`, `kubectl get namespace shop`},
	{`kubectl scale deploy/api --replicas=0`, `kubectl describe deploy/api`},
	{`kubectl drain node-1 --ignore-daemonsets`, `kubectl top node node-1`},
	{`helm uninstall api`, `helm list --all`},
	{`terraform destroy -auto-approve`, `terraform plan -out build/tf`},
	{`aws s3 rm s3://acme-logs --recursive`, `aws s3 ls s3://acme-logs --recursive`},
	{`aws ec2 terminate-instances --instance-ids i-1`, `aws ec2 describe-instances --instance-ids i-1`},
	{`aws rds delete-db-instance --db-instance-identifier shop`, `aws rds describe-db-instances --db-instance-identifier shop`},
	{`gcloud projects delete acme-prod --quiet`, `gcloud projects describe acme-prod`},
	{`gcloud compute instances delete web-1`, `gcloud compute instances list`},
	{`az group delete --name shop --yes`, `az group show --name shop`},
	{`heroku apps:destroy shop --confirm shop`, `heroku apps:info shop`},
	{`docker volume prune -f`, `docker volume ls`},
	{`docker system prune -af`, `docker system df`},
	{`docker -H tcp://prod.example:2376 rm -f web`, `docker -H tcp://prod.example:2376 ps`},
	{`docker --context prod stop web`, `docker --context prod ps -a`},
	// Databases and messages.
	{`psql -h db.example -c "DROP DATABASE shop"`, `psql -h db.example -c "SELECT 1"`},
	{`mysql -h db.example -e "DROP TABLE users"`, `mysql -h db.example -e "SHOW TABLES"`},
	{`dropdb -h db.example shop`, `pg_dump -h db.example shop`},
	{`mongosh mongodb://db.example/shop --eval "db.dropDatabase()"`, `mongosh mongodb://db.example/shop --eval "db.a.findOne()"`},
	{`redis-cli -h cache.example FLUSHALL`, `redis-cli -h cache.example PING`},
	{`curl -X DELETE https://api.example/v1/users/1`, `curl -X GET https://api.example/v1/users/1`},
	{`curl -d a=b https://api.example/v1/users`, `curl -d a=b http://localhost:3000/v1/users`},
	{`http DELETE https://api.example/v1/users/1`, `http GET https://api.example/v1/users/1`},
	{`mail -s report ann@acme.example`, `date -u`},
	// Other machines.
	{`ssh web1.example "rm -rf /srv/app"`, `ssh web1.example "ls /srv/app"`},
	{`ssh web1.example sudo reboot`, `ssh web1.example uptime`},
	{`scp build/a.tgz web1.example:/srv/`, `scp web1.example:/srv/a.tgz build/`},
	{`rsync -a --delete build/ web1.example:/srv/app/`, `rsync -a --delete build/ dist/`},
	{`ansible-playbook -i prod site.yml`, `ansible-playbook -i prod site.yml --check`},
	{`rclone purge remote:backups`, `rclone ls remote:backups`},
	{`vault kv delete secret/app`, `vault kv get secret/app`},
}

// forms has the ways in which a line may run a call: CMD stands for all of it, ESC for that in double quotes, PROG for
// its program, ARGS for its other words, INIT and LAST for all of these but the last and the last, LIST for its words
// as Python and JavaScript write a list, COMMAS for its words with commas between, each in quotes if needed.
var forms = []string{
	// What runs another command.
	`sudo CMD`, `sudo -u deploy CMD`, `sudo -E A=b CMD`, `sudo -- CMD`, `sudo -nu root CMD`, `sudo --user=deploy CMD`, `doas CMD`, `A=b CMD`, `env CMD`, `env A=b CMD`, `env -i A=b CMD`,
	`nohup CMD >build/log 2>&1 &`, `CMD &`, `time CMD`, `time -p CMD`, `/usr/bin/time -v CMD`, `timeout 5 CMD`, `timeout -k 5 -s KILL 30s CMD`, `timeout --signal=KILL 30 CMD`,
	`nice CMD`, `nice -n 10 CMD`, `nice -10 CMD`, `ionice -c 3 CMD`, `ionice -c3 nice -n19 CMD`, `setsid CMD`, `stdbuf -oL CMD`, `command CMD`, `command -p CMD`, `exec CMD`, `exec -a x CMD`, `builtin command CMD`,
	`flock build/lock CMD`, `flock -n build/lock -c 'CMD'`, `flock build/lock sh -c 'CMD'`, `strace -f -o build/trace CMD`, `chronic CMD`, `unbuffer CMD`, `systemd-run --user --scope CMD`,
	`watch CMD`, `watch -n 5 'CMD'`, `watch -n5 CMD`, `xvfb-run -a CMD`, `script -qc 'CMD' build/log`, `caffeinate -i CMD`, `faketime yesterday CMD`, `numactl -N 0 CMD`, `taskset -c 1 CMD`, `setarch x86_64 CMD`,
	`runuser -u app -- CMD`, `su -c 'CMD'`, `su - app -c 'CMD'`, `su app -s /bin/sh -c 'CMD'`, `sudo su -c 'CMD'`, `pkexec CMD`, `sudo timeout 5 env A=b nice CMD`, `coproc { CMD; }`,
	`tmux new-session -d 'CMD'`, `tmux new -d -s x CMD`, `tmux send-keys -t x 'CMD' Enter`, `screen -dmS x CMD`, `screen -dm bash -c 'CMD'`,
	// How words may be written.
	`\PROG ARGS`, `"PROG" ARGS`, `'PROG' ARGS`, `PROG"" ARGS`, `$'PROG' ARGS`, `/usr/bin/PROG ARGS`, `PROG \
  ARGS`, `PROG  ARGS ;`, `{COMMAS}`, `$(echo PROG) ARGS`, "`echo PROG` ARGS", `$(printf PROG) ARGS`, `$(printf %s PROG) ARGS`, `"$(echo PROG)" ARGS`, `$(which PROG) ARGS`, "`which PROG` ARGS", `$(command -v PROG) ARGS`, `"$(type -P PROG)" ARGS`,
	`p=PROG; $p ARGS`, `p=PROG; "$p" ARGS`, `p=PROG && ${p} ARGS`, `p="PROG"; sudo $p ARGS`, `p=/usr/bin/PROG; $p ARGS`, `export P=PROG; $P ARGS`, `P=${P:-PROG}; $P ARGS`, `${P:-PROG} ARGS`, `readonly p=PROG; $p ARGS`, `declare p=PROG; $p ARGS`,
	`: "${p:=PROG}"; $p ARGS`, `p=$(command -v PROG); $p ARGS`, `p=$(which PROG) && "$p" ARGS`, `a=PROG; b=$a; $b ARGS`, `DRY=; $DRY CMD`, `SUDO=sudo; $SUDO CMD`, `$SUDO CMD`, `${SUDO} CMD`, `${SUDO:-} CMD`, `$(which sudo) CMD`,
	`c='CMD'; eval "$c"`, `c='CMD'; eval $c`, `c='CMD'; sh -c "$c"`, `c='CMD'; echo "$c" | sh`, `c='CMD'; bash <<< "$c"`,
	`c=(CMD); "${c[@]}"`, `c=(PROG); c+=(ARGS); "${c[@]}"`, `a=(ARGS); PROG "${a[@]}"`, `declare -a c=(CMD); ${c[@]}`, `c=(CMD); sudo "${c[@]}"`, `c=(CMD); ${c[*]}`, `c=(CMD); timeout 9 "${c[@]}"`,
	`x=LAST; PROG INIT $x`, `x=LAST; PROG INIT "$x"`, `x=LAST; PROG INIT "${x}"`, `set -- ARGS; PROG "$@"`, `set -- CMD; "$@"`, `set -- CMD && exec "$@"`, `export X=LAST && PROG INIT $X`, `local x=LAST; PROG INIT "$x"`,
	// Lines in words.
	`eval 'CMD'`, `eval "ESC"`, `eval "$(echo 'CMD')"`, `eval "$(cat <<'E'
CMD
E
)"`, `bash -c 'CMD'`, `sh -c "ESC"`, `bash -lc 'CMD'`, `bash -ec 'CMD'`, `bash -euo pipefail -c 'CMD'`, `bash --noprofile --norc -c 'CMD'`, `/bin/sh -c 'CMD'`, `zsh -ic 'CMD'`, `sudo bash -c 'CMD'`, `env A=b bash -c 'CMD'`, `nohup sh -c 'CMD' &`, `bash -c "bash -c 'ESC'"`,
	`$SHELL -c 'CMD'`, `"$SHELL" -c 'CMD'`, `${SHELL:-/bin/sh} -c 'CMD'`, `bash -c 'PROG "$@"' _ ARGS`, `sh -c '"$@"' _ CMD`, `sh -c 'exec "$0" "$@"' CMD`, `bash -c 'PROG INIT "$1"' _ LAST`, `bash -c 'PROG INIT $0' LAST`, `bash -c "$(echo 'CMD')"`, `fish -c 'CMD'`, `busybox sh -c 'CMD'`, `dash -c 'CMD'`,
	"bash <<'EOF'\nCMD\nEOF", "bash <<EOF\nCMD\nEOF", "bash -s <<'EOF'\nCMD\nEOF", "sudo bash <<'EOF'\nset -e\nCMD\nEOF", "sudo -s <<'EOF'\nCMD\nEOF", "sudo -u app bash -s <<'EOF'\nCMD\nEOF", "cat <<'EOF' | bash\nCMD\nEOF", "cat <<'EOF' | sudo bash -s\nCMD\nEOF", "source /dev/stdin <<'EOF'\nCMD\nEOF", `. /dev/stdin <<< 'CMD'`,
	`bash <<< 'CMD'`, `bash <<< "ESC"`, `sh -s <<< 'CMD'`, `echo 'CMD' | sh`, `echo "ESC" | bash`, `echo "ESC" | sudo bash`, `printf '%s\n' 'CMD' | bash`, `printf 'CMD\n' | sh`, `bash <(echo 'CMD')`, `source <(echo 'CMD')`, `. <(echo "ESC")`, `echo 'CMD' | bash -s`, `echo 'CMD' | bash -`, `echo 'CMD' | tee /dev/stderr | sh`, `echo 'CMD' | xargs -I{} sh -c '{}'`, `echo 'CMD' | xargs -0 sh -c`, `echo 'CMD' | sudo sh -s -- x`,
	`trap 'CMD' EXIT`, `trap "ESC" INT TERM EXIT`, `trap 'echo bye; CMD' EXIT`, `cleanup() { CMD; }; trap cleanup EXIT`,
	`echo 'CMD' | at now`, "at 03:00 <<'EOF'\nCMD\nEOF", `at now <<< 'CMD'`, `echo "ESC" | batch`,
	"make -f - <<'EOF'\nall:\n\tCMD\nEOF", "make -f - all <<'EOF'\nall: ; @CMD\nEOF", "cat <<'EOF' | make -f -\nall:\n\t-@CMD\nEOF",
	`git -c alias.x='!CMD' x`, `git bisect run CMD`, `git rebase --exec 'CMD' main`, `git rebase -x 'CMD' main`, `git submodule foreach 'CMD'`, `git -c core.pager='CMD' log`, `npx -c 'CMD'`, `npm exec -c 'CMD'`, `entr -s 'CMD' <build/list`, `ls a | entr CMD`, `watchexec -- CMD`, `nodemon --exec 'CMD'`, `nix-shell --run 'CMD'`, `hyperfine 'CMD'`, `hyperfine -w 1 -- 'CMD'`, `concurrently 'CMD' 'ls'`, `find . -maxdepth 0 -exec CMD \;`, `direnv exec . CMD`, `vim -c '!CMD' -c q`,
	// What gives words to a command.
	`echo LAST | xargs PROG INIT`, `echo ARGS | xargs PROG`, `echo ARGS | xargs -t -r PROG`, `printf '%s\n' LAST | xargs -n1 PROG INIT`, `echo LAST | xargs -I{} PROG INIT {}`, `seq 3 | xargs -n 1 sh -c 'CMD'`, `seq 3 | xargs -P4 -I{} CMD`, `cat build/list | xargs -I{} bash -c 'CMD'`, `xargs -a build/list -I{} CMD`, `xargs PROG INIT <<< LAST`, `printf '%s\0' LAST | xargs -0 PROG INIT`, `echo LAST | sudo xargs PROG INIT`, `echo LAST | xargs sudo PROG INIT`,
	`find . -name x -exec CMD \;`, `find . -name x -exec sh -c 'CMD' \;`, `find . -exec bash -c 'CMD' _ {} +`, `find . -name x -execdir CMD ';'`, `find . -ok CMD \;`, `fd -t f -x CMD`, `parallel 'CMD; : {}' ::: 1`, `parallel -N0 'CMD' ::: 1 2`, `parallel -j4 -N0 "ESC" ::: 1 2`, `parallel ::: 'CMD' 'ls'`, `parallel PROG INIT ::: LAST`, `parallel PROG INIT {} ::: LAST`, `echo 'CMD' | parallel`, "parallel <<'EOF'\nCMD\nEOF",
	// What a shell does with commands.
	`true && CMD`, `false || CMD`, `! CMD`, `cd build/.. && CMD`, `set -euo pipefail; CMD`, `set -x; CMD; set +x`, `(CMD)`, `( cd build/.. && CMD )`, `{ CMD; }`, `{ CMD; } 2>&1 | tee build/log`, `CMD | tee build/log`, `CMD >build/log 2>&1`, `>build/log CMD`, `2>/dev/null CMD`, `CMD || true`, `CMD && echo done`, `if true; then CMD; fi`, `if CMD; then echo ok; fi`, `if ! CMD; then exit 1; fi`, `if false; then ls; else CMD; fi`, `[ -d build ] && CMD`, `[[ $USER = ann ]] && CMD`, `test -f x || CMD`, `((1)) && CMD`,
	`for i in 1 2 3; do CMD; done`, `for i in LAST; do PROG INIT $i; done`, `for i in LAST; do PROG INIT "$i"; done`, `for p in PROG; do $p ARGS; done`, `for ((i=0;i<3;i++)); do CMD; done`, `for i in 1; do CMD & done; wait`, `for c in 'CMD'; do eval "$c"; done`, `for c in "ESC"; do sh -c "$c"; done`, `while true; do CMD; sleep 1; done`, `while read -r l; do CMD; done <build/list`, `cat build/list | while read l; do CMD; done`, `until CMD; do sleep 5; done`, `while CMD; do :; done`, `select x in a b; do CMD; done`, `echo LAST | while read -r l; do PROG INIT "$l"; done`, `while read -r l; do PROG INIT "$l"; done <<< LAST`, `echo 'CMD' | while read -r l; do eval "$l"; done`,
	`case $x in a) CMD ;; esac`, `case "$1" in start) ls ;; *) CMD ;; esac`, `x=$(CMD)`, `echo "$(CMD)"`, "x=`CMD`", `cat <(CMD)`, `diff <(CMD) <(ls)`, `ls > >(CMD)`, `ls | CMD`, `yes | CMD`, `yes | sudo CMD`, `echo y | CMD`, `printf 'y\n' | CMD`, `CMD <<< y`, `CMD </dev/null`, "CMD <<'EOF'\ny\nEOF", `local x=$(CMD)`, `[ -z "$(CMD)" ]`, `: $(CMD)`, `sleep 5 && CMD`, `(sleep 5; CMD) &`, `wait; CMD`, "# note\nCMD", "ls\n\nCMD\nls",
	`f() { CMD; }; f`, `function f { CMD; }; f`, "f() {\n  CMD\n}\nf", `f() { PROG "$@"; }; f ARGS`, `f() { "$@"; }; f CMD`, `f() { sudo "$@"; }; f CMD`, `f() { PROG INIT "$1"; }; f LAST`, `f() { local x=$1; PROG INIT "$x"; }; f LAST`, `f() { local x="$1"; PROG INIT "$x"; }; f LAST`, `f() { g "$@"; }; g() { PROG "$@"; }; f ARGS`, `f() { eval "$1"; }; f 'CMD'`, `f() { for x in "$@"; do PROG INIT "$x"; done; }; f LAST`, `f() { while [ $# -gt 0 ]; do PROG INIT "$1"; shift; done; }; f LAST`, `f() (CMD); f`, `PROG() { command PROG "$@"; }; PROG ARGS`,
	"alias x='CMD'\nx", "alias x=PROG\nx ARGS", "alias x='sudo PROG'\nx ARGS", "shopt -s expand_aliases; alias x=\"ESC\"; x", "alias x='PROG INIT'\nx LAST",
	// Programs in languages.
	`python3 -c "import os; os.system('ESC')"`, `python3 -c 'import subprocess; subprocess.run(LIST)'`, `python3 -c 'import subprocess as s; s.check_call(LIST)'`, `python -c "import subprocess; subprocess.run('ESC', shell=True, check=True)"`, `python3 -c "__import__('os').system('ESC')"`, `python3 -c "import os; os.popen('ESC').read()"`, `python3 -c 'from subprocess import *; call(LIST)'`, "python3 - <<'EOF'\nimport subprocess\nsubprocess.run(LIST, check=True)\nEOF", "python3 <<'EOF'\nimport os\nos.system('CMD')\nEOF",
	`perl -e "system('ESC')"`, `perl -e 'exec(LIST0)'`, `perl -e 'system LIST0'`, "perl -e '`CMD`'", `ruby -e "system('ESC')"`, "ruby -e '`CMD`'", `ruby -e "exec 'ESC'"`, `ruby -e 'system(LIST0)'`, `ruby -e '%x[CMD]'`, `node -e "require('child_process').execSync('ESC')"`, `node -e 'require("child_process").spawnSync(NODE)'`, `node -e "const {execSync}=require('child_process'); execSync('ESC', {stdio:'inherit'})"`, `php -r "system('ESC');"`, `php -r "shell_exec('ESC');"`, `awk "BEGIN { system(\"AWK\") }"`, `lua -e "os.execute('ESC')"`, `tclsh <<< 'exec CMD'`, `Rscript -e "system('ESC')"`, `julia -e 'run(CMDTICK)'`,
}

// bare has the forms in which a shell splits a text into words, so that quotes in it are no longer any: for calls
// without quotes.
var bare = []string{
	`c='CMD'; $c`, `c='CMD'; sudo $c`, `a='ARGS'; PROG $a`, `eval CMD`, `echo CMD | sh`, `printf '%s ' CMD | sh`, `echo LAST | xargs -I % sh -c 'PROG INIT %'`, `for c in 'CMD' ls; do $c; done`, "while read -r l; do PROG INIT $l; done <<'EOF'\nLAST\nEOF", `read -r c <<< 'CMD'; $c`, `f() { bash -c "$*"; }; f CMD`, `f() { $1; }; f 'CMD'`, `$(echo CMD)`,
	`c='CMD'; cd build/..; $c || true`, `run='CMD'; for i in 1 2; do $run; done`, `xargs <<< 'CMD' env`, `echo 'CMD' | xargs env`, `echo 'CMD' | xargs -n 99 sudo`,
}

// TestUnfoldIsBounded judges lines that are long when they are written out.
func TestUnfoldIsBounded(t *testing.T) {
	deep := "echo x"
	for range 40 {
		deep = "$(" + deep + ")"
	}
	for _, line := range []string{
		"x=ab; " + strings.Repeat("x=$x$x; ", 60) + "rm -rf $x", "echo {1..999999999}{1..999999999}", deep,
		"for a in {1..16}; do for b in {1..16}; do for c in {1..16}; do for d in {1..16}; do rm -rf build/$a$b$c$d; done; done; done; done",
		"f() { g; g; g; }; g() { h; h; h; }; h() { i; i; i; }; i() { j; j; j; }; j() { ls; ls; ls; }; f; f; f",
		"f() { f; f; }; f", "alias a='a a'\na", "c='eval \"$c\"'; eval \"$c\"",
	} {
		find(line)
	}
	if found, _ := find("for a in {1..16}; do for b in {1..16}; do for c in {1..16}; do rm -rf /srv/$a$b$c; done; done; done"); len(found) == 0 {
		t.Error("what is too long to be written out is not judged as it stands")
	}
}

// split returns the words of a call, quotes and all.
func split(call string) (words []string) {
	quoted := false
	word := ""
	for _, r := range call {
		switch {
		case r == ' ' && !quoted:
			words, word = append(words, word), ""
			continue
		case r == '"':
			quoted = !quoted
		}
		word += string(r)
	}
	return append(words, word)
}

// formed returns a call in a form.
func formed(form, call string) string {
	ws := split(call)
	list := make([]string, len(ws))
	for i, w := range ws {
		list[i] = `"` + strings.Trim(w, `"`) + `"`
	}
	joined := strings.Join(list, ", ")
	return strings.NewReplacer(
		"CMDTICK", "`"+call+"`", "CMD", call, "ESC", strings.ReplaceAll(call, `"`, `\"`), "AWK", strings.ReplaceAll(call, `"`, `\\\"`),
		"PROG", ws[0], "ARGS", strings.Join(ws[1:], " "), "INIT", strings.Join(ws[1:len(ws)-1], " "), "LAST", ws[len(ws)-1],
		"LIST0", joined, "LIST", "["+joined+"]", "NODE", list[0]+", ["+strings.Join(list[1:], ", ")+"]", "COMMAS", strings.Join(ws, ","),
	).Replace(form)
}

// TestGrid judges each pair in each form.
func TestGrid(t *testing.T) {
	racing.Alone(t)
	missed, flagged, n := map[string][]string{}, map[string][]string{}, 0
	all := slices.Concat(forms, bare)
	for i, form := range all {
		for _, p := range pairs {
			if i >= len(forms) && strings.Contains(p[0]+p[1], `"`) {
				continue
			}
			if n++; racing.On && n%10 > 0 { // nothing here runs beside it
				continue
			}
			if found, parsed := find(formed(form, p[0])); !parsed || len(found) == 0 {
				missed[form] = append(missed[form], formed(form, p[0]))
			}
			if found, parsed := find(formed(form, p[1])); !parsed || len(found) > 0 {
				flagged[form] = append(flagged[form], formed(form, p[1]))
			}
		}
	}
	m, f := 0, 0
	for _, form := range all {
		m, f = m+len(missed[form]), f+len(flagged[form])
		for kind, lines := range map[string][]string{"missed": missed[form], "flagged": flagged[form]} {
			if len(lines) > 0 {
				t.Errorf("%s: %d %s, as %s", form, len(lines), kind, strings.Join(lines[:min(3, len(lines))], "   |   "))
			}
		}
	}
	t.Logf("%d lines each: %d dangerous missed, %d harmless flagged", n, m, f)
}

// TestUnfoldLosesNothing has what is written out only in part: the rest is judged as it stands.
func TestUnfoldLosesNothing(t *testing.T) {
	many, more := strings.Repeat("build/a\n", 16)+"/etc\n", strings.Repeat("build/a\n", 300)+"/etc\n"
	for _, line := range []string{
		"while read f; do rm -rf \"$f\"; done <<'E'\n" + many + "E",
		"xargs -I{} rm -rf {} <<'E'\n" + many + "E",
		"parallel rm -rf {} <<'E'\n" + many + "E",
		"printf '%s\\n' " + strings.ReplaceAll(many, "\n", " ") + " | parallel rm -rf",
		"while read f; do rm -rf \"$f\"; done <<'E'\n" + more + "E",
		"xargs -I{} rm -rf {} <<'E'\n" + more + "E",
		"parallel rm -rf {} <<'E'\n" + more + "E",
		"cat list | parallel rm -rf",
		"printf '%s\\n' " + strings.ReplaceAll(many, "\n", " ") + " | while read -r f; do rm -rf \"$f\"; done",
		"f() { rm -rf /srv/x; }; x=$(f)",
		"f() { rm -rf /srv/x; }; [[ $(f) ]] && ls",
		"f() { rm -rf /srv/x; }; if [ -n \"$(f)\" ]; then ls; fi",
		"f() { rm -rf /srv/x; }; diff <(f) build/b",
		"f() { rm -rf /srv/x; }; echo $(( $(f) + 1 ))",
		"f() { rm -rf /srv/x; }; for ((i = $(f); i < 2; i++)); do ls; done",
		"f() { rm -rf /srv/x; }; case $(f) in *) ls ;; esac",
		"f() { rm -rf /srv/x; }; cat <<E\n$(f)\nE",
		"f() { rm -rf /srv/x; }; ls > $(f)",
		"f() { rm -rf /srv/x; }; a=($(f))",
		"f() { rm -rf /srv/x; }; export A=$(f)",
		"f() { rm -rf /srv/x; }; f & wait",
		"f() { rm -rf /srv/x; }; ! f",
		"f() { rm -rf /srv/x; }; time f",
		"f() { rm -rf /srv/x; }; coproc f",
		"f() { rm -rf /srv/x; }; ls | f",
		"f() { rm -rf /srv/x; }; f | ls",
		"f() { rm -rf /srv/x; }; $(echo f)",
		"f() { rm -rf /srv/x; }; trap f EXIT",
		"f() { rm -rf /srv/x; }; until f; do sleep 1; done",
		"a() { rm -rf /srv/x; }; b() { a; }; c() { b; }; d() { c; }; e() { d; }; f() { e; }; g() { f; }; h() { g; }; h",
		"a() { b; }; b() { a; rm -rf /srv/x; }; a",
		"if true; then x=/srv/x; else x=build; fi; rm -rf $x",
		"x=build; [ -d y ] && x=/srv/x; rm -rf $x",
		"x=build; case $1 in a) x=/srv/x ;; esac; rm -rf $x",
		"x=build; for i in 1 2; do x=/srv/x; done; rm -rf $x",
		"x=build; while read -r y; do x=$y; done < list; rm -rf $x",
		"x=build; f() { x=/srv/x; }; f; rm -rf $x",
		"x=build; eval 'x=/srv/x'; rm -rf $x",
		"x=build; read x; rm -rf $x",
		"x=build; . ./env; rm -rf /srv/$x",
		"x=build; { x=/srv/x; }; rm -rf $x",
		"x=build; x=/srv/x rm -rf build; x=/srv/x; rm -rf $x",
		"set -- build /srv/x; rm -rf \"$@\"",
		"set -- build /srv/x; shift; rm -rf $1",
		"set -- build; set -- /srv/x; rm -rf $1",
		"f() { shift; rm -rf $1; }; f build /srv/x",
		"f() { for d; do rm -rf $d; done; }; f build /srv/x",
		"f() { while [ $# -gt 0 ]; do rm -rf $1; shift; done; }; f build /srv/x",
		"f() { local d=${1:-/srv/x}; rm -rf $d; }; f",
		"d=; rm -rf ${d:-/srv/x}",
		"d=/srv/x; (d=build; ls); rm -rf $d",
		"d=/srv/x; sh -c 'rm -rf $0' $d",
		"d=/srv/x; D=$d sh -c 'rm -rf $D'",
		"export D=/srv/x; sh -c 'rm -rf $D'",
		"d=/srv; rm -rf $d/x",
		"d=/srv; e=$d/x; rm -rf \"$e\"",
		"a=(build /srv/x); rm -rf \"${a[1]}\"",
		"a=(build); a+=(/srv/x); rm -rf \"${a[@]}\"",
		"declare -A m=([k]=/srv/x); rm -rf ${m[k]}",
		"d=/srv/xy; rm -rf ${d%y}",
		"d=build; rm -rf ${d/build/\\/srv\\/x}",
		"d=D; D=/srv/x; rm -rf ${!d}",
	} {
		if found, parsed := find(line); !parsed || len(found) == 0 {
			t.Errorf("missed (parsed %t): %s", parsed, line)
		}
	}
}
