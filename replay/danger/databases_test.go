package danger

import "testing"

// TestDatabasesElsewhere gives clients statements for a database on another machine, and on this one.
func TestDatabasesElsewhere(t *testing.T) {
	for command, want := range map[string]bool{
		"psql -h db.example.org shop -c 'SELECT 1'":                                                           false,
		"psql -h db.example.org shop -c 'select 1; insert into t values (1)'":                                 true,
		"psql postgres://ann@db.example.org/shop --command='GRANT ALL ON t TO bob'":                           true,
		"psql -h localhost shop -c 'GRANT ALL ON t TO bob'":                                                   false,
		"psql -h /run/postgresql shop -c 'GRANT ALL ON t TO bob'":                                             false,
		"psql -h db.example.org -c '\\dt+' shop":                                                              false,
		"psql -h db.example.org -c '\\i fix.sql' shop":                                                        true,
		"psql -h db.example.org shop < dump.sql":                                                              true,
		"psql -h db.example.org -f fix.sql shop":                                                              true,
		"psql -h db.example.org -l":                                                                           false,
		"pg_dump shop | psql -h db.example.org shop":                                                          true,
		"echo 'SELECT 1' | mysql -h db.example.org shop":                                                      false,
		"echo 'UPDATE t SET a = 1 WHERE b' | mysql -h db.example.org shop":                                    true,
		"mysql -h 127.0.0.1 shop < dump.sql":                                                                  false,
		"mongosh mongodb://db.example.org/shop --eval 'db.t.find()'":                                          false,
		"mongosh mongodb://db.example.org/shop --eval 'db.t.insertOne({a: 1})'":                               true,
		"redis-cli -h db.example.org get a":                                                                   false,
		"redis-cli -h db.example.org config get maxmemory":                                                    false,
		"redis-cli -h db.example.org config set maxmemory 1gb":                                                true,
		"redis-cli -h db.example.org --bigkeys":                                                               false,
		"redis-cli set a 1":                                                                                   false,
		"bq query --use_legacy_sql=false 'SELECT 1'":                                                          false,
		"bq --project_id=shop query --use_legacy_sql=false 'MERGE a.b USING c ON d WHEN MATCHED THEN DELETE'": true,
		"bq query --use_legacy_sql=false 'DELETE FROM `shop-data.web.hits` WHERE day < \"2023-01-01\"'":       true,
		"bq query --dry_run 'UPDATE a.b SET c = 1 WHERE d'":                                                   false,
		"mysql -hdb.example.org -e'DROP TABLE t' shop":                                                        true,
		"mysql -hdb.example.org -e'UPDATE t SET a = 1 WHERE b' shop":                                          true,
		"mysql -hdb.example.org -e'SELECT 1' shop":                                                            false,
		"bq query < report.sql":                                                                               false,
		"psql -h localhost -c 'DELETE FROM t WHERE a < 3' shop":                                               false,
		"psql -h localhost -c 'DELETE FROM t' shop":                                                           true,
		"psql -h localhost -c 'DELETE FROM t WHERE a; DROP TABLE t' shop":                                     true,
		"psql -h db.example.org -c 'DELETE FROM t WHERE a < 3' shop":                                          true,
		"psql -c 'DELETE FROM t WHERE a < 3' shop":                                                            true, // the host may be in the environment
		"mysql -e 'TRUNCATE `t`' shop":                                                                        true,
		"sqlx migrate run --database-url sqlite:build/dev.db":                                                 false,
		"sqlx migrate run --database-url postgres://db.example.org/shop":                                      true,
	} {
		found, parsed := find(command)
		if got := len(found) > 0; !parsed || got != want {
			t.Errorf("%s: found %v, want danger: %v", command, found, want)
		}
	}
}

// TestCommandsElsewhereAndHere has commands that are dangerous by where they reach alone.
func TestCommandsElsewhereAndHere(t *testing.T) {
	for command, want := range map[string]bool{
		"docker --context prod compose up -d":                                                true,
		"docker --context prod compose ps":                                                   false,
		"docker -H ssh://prod rm web":                                                        true,
		"docker -H unix:///run/docker.sock rm web":                                           false,
		"docker compose exec db sh -c 'ls'":                                                  false,
		"aws --endpoint-url http://localhost:4566 s3 rb s3://test":                           false,
		"CMD='terraform destroy'; $CMD -auto-approve":                                        true,
		"CMD='terraform plan'; $CMD":                                                         false,
		"python3 - <<'E'\nimport shutil\nshutil.rmtree('/srv/media')\nE":                     true,
		"python3 - <<'E'\nimport shutil\nshutil.rmtree('build')\nE":                          false,
		"python3 -c \"import boto3; boto3.client('s3').delete_object(Bucket='b', Key='k')\"": true,
		"python3 -c \"import boto3; print(boto3.client('s3').list_buckets())\"":              false,
		"cd .. && rm -rf work":                                                               true,
		"rm -rf build":                                                                       false,
	} {
		found, parsed := find(command)
		if got := len(found) > 0; !parsed || got != want {
			t.Errorf("%s: found %v, want danger: %v", command, found, want)
		}
	}
}
