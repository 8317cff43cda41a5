package danger

import "testing"

// TestGiven has words that stand for others of the same line.
func TestGiven(t *testing.T) {
	dangerIs(t, map[string]bool{
		`cmd=(rm -rf /srv/x); "${cmd[@]}"`:                                      true,
		`cmd=(aws s3 rm --recursive); cmd+=(s3://b/logs); sudo "${cmd[@]}"`:     true,
		"args=(-rf /srv/x)\nrm \"${args[@]}\"":                                  true,
		`opts=(-p 2222 -i key); ssh "${opts[@]}" web1 'sudo reboot'`:            true,
		`cmd=(go test ./...); "${cmd[@]}"`:                                      false,
		`args=(-la /srv); ls "${args[@]}"`:                                      false,
		`run() { "$@"; }; run rm -rf /srv/x`:                                    true,
		"run() { echo \"+ $*\"; \"$@\"; }\nrun kubectl delete ns prod":          true,
		`on() { h=$1; shift; ssh "$h" "$@"; }; on web1 sudo reboot`:             true,
		`post() { curl -s -d "$2" "$1"; }; post https://api.example.com/x a=b`:  true,
		`run() { "$@"; }; run go build ./...`:                                   false,
		"retry() { for i in 1 2 3; do \"$@\" && return; done; }; retry npm ci":  false,
		"make -f - <<'EOF'\nall:\n\t@rm -rf /srv/x\nEOF":                        true,
		`printf 'all:\n\trm -rf /srv/x\n' | make -f -`:                          true,
		"make -f - <<'EOF'\nall: ; rm -rf /srv/x\nEOF":                          true,
		"make -n -f - <<'EOF'\nall:\n\trm -rf /srv/x\nEOF":                      false,
		"make -f - <<'EOF'\nall:\n\trm -rf build\nEOF":                          false,
		`git -c alias.x='!rm -rf /srv/x' x`:                                     true,
		`git -c alias.p='push --force' p origin main`:                           true,
		`git -c alias.st=status st`:                                             false,
		`sed -n 's/.*/rm -rf \/srv\/&/p' names.txt | sh`:                        true,
		`sed 's/.*/echo &/' names.txt | sh`:                                     false,
		"redis-cli -h cache.example.com <<'EOF'\nFLUSHALL\nEOF":                 true,
		"redis-cli -h cache.example.com <<'EOF'\nINFO memory\nEOF":              false,
		`kill -TERM $(cat /run/nginx.pid)`:                                      true,
		`kill $(cat build/server.pid)`:                                          false,
		`pushd ~/Documents && rm -f *.pdf`:                                      true,
		`curl -XGET http://es.example.com/a/_search -d '{"query":{}}'`:          false,
		`curl -XPOST http://es.example.com/a/_delete_by_query -d '{"query":1}'`: true,
	})
}

// TestAtProviders has what clients of storages and databases of providers are told.
func TestAtProviders(t *testing.T) {
	dangerIs(t, map[string]bool{
		`aws dynamodb execute-statement --statement "DELETE FROM t WHERE id='1'"`:                                      true,
		`aws dynamodb execute-statement --statement "SELECT * FROM t"`:                                                 false,
		`aws rds-data execute-statement --resource-arn a --secret-arn b --sql "$SQL"`:                                  true,
		`gcloud spanner databases execute-sql shop --instance=i --sql="DELETE FROM t WHERE true"`:                      true,
		`gcloud spanner databases execute-sql shop --instance=i --sql="SELECT 1"`:                                      false,
		`gcloud storage cp build/a.tgz gs://bucket/`:                                                                   true,
		`gcloud storage rsync -r build gs://bucket`:                                                                    true,
		`gcloud storage mv gs://bucket/a build/`:                                                                       true,
		`gcloud storage cp gs://bucket/a build/`:                                                                       false,
		`gcloud storage rsync -r gs://bucket build`:                                                                    false,
		`echo 'DELETE FROM d.t WHERE true' | bq query --use_legacy_sql=false`:                                          true,
		`echo 'SELECT 1' | bq query --use_legacy_sql=false`:                                                            false,
		`duckdb -c "ATTACH 'postgres:host=db.example.com dbname=shop' AS p; DELETE FROM p.orders"`:                     true,
		`duckdb -c "ATTACH 'postgres:host=db.example.com dbname=shop' AS p; CREATE TABLE o AS SELECT * FROM p.orders"`: false,
		`duckdb -c "ATTACH 'postgres:host=localhost dbname=shop' AS p; INSERT INTO p.orders VALUES (1)"`:               false,
		`doppler secrets -p shop`:                                                                                      false,
		`doppler secrets delete DB -p shop`:                                                                            true,
		`s5cmd run build/commands.txt`:                                                                                 true,
		`sudo networksetup -setdnsservers Wi-Fi 1.2`:                                                                   true,
		`networksetup -getdnsservers Wi-Fi`:                                                                            false,
		`sudo scutil --set HostName web`:                                                                               true,
		`scutil --get HostName`:                                                                                        false,
	})
}
