package csharp

import "github.com/recountdb/recount/languages/scope"

// commonMethods are names of methods that many classes of .NET and of its best known libraries
// have. A call of one on a value of unknown type says little about what is called.
var commonMethods = scope.WordSet(`
Abort Accept Acquire Add AddAsync AddFirst AddLast AddOrUpdate AddRange AddTo Aggregate All Any Append AppendFormat AppendLine
Apply As AsEnumerable AsMemory AsParallel AsQueryable AsReadOnly AsSpan AsTask At Attach Average Await Begin BeginInvoke
Bind BindingContext Block Build Cancel CancelAfter Cast Change Check Clear Clone Close CloseAsync Collect Combine Commit Compare
CompareTo Compile Complete Concat Configure ConfigureAwait Connect Contains ContainsKey ContainsValue Continue
ContinueWith Convert ConvertAll ConvertTo Copy CopyTo CopyToAsync Count Create CreateInstance CreateInstance CreateScope
Decode Delay Delete DeleteAsync Dequeue Deserialize DeserializeAsync Detach Dispose DisposeAsync Distinct Divide Do
Each ElementAt Emit Empty Enable Encode End EndInvoke EndsWith Enqueue Ensure Enter Equals Error Evaluate Except
ExceptWith Execute ExecuteAsync Exists Exit Fail Fill Find FindAll FindIndex Finish First FirstOrDefault Flatten Flush
FlushAsync ForEach ForEachAsync Format Free From Generate Get GetArguments GetArray GetAsync GetAttribute
GetAttributes GetAwaiter GetBaseDefinition GetBoolean GetByIndex GetBytes GetChild GetChildren GetConstructor
GetConstructors GetConverter GetCustomAttribute GetCustomAttributes GetData GetElementType GetEnumerator GetEnumNames
GetEnumValues GetEnvironmentVariable GetErrors GetField GetFields GetFiles GetGenericArguments GetGenericTypeDefinition GetGetMethod GetHashCode
GetIndexParameters GetInstance GetInt32 GetInt64 GetInterface GetInterfaces GetInvocationList GetItem GetItems GetKey GetLength
GetMember GetMembers GetMethod GetMethods GetName GetNames GetNamespace GetObject GetOptions GetOrAdd GetOrCreate GetOrDefault
GetParameters GetPath GetProperties GetProperty GetProvider GetRange GetReference GetRequiredService GetResponse GetResult GetRoot GetSection
GetService GetServices GetSetMethod GetStream GetString GetText GetToken GetType GetTypeInfo GetTypes GetUri GetValue
GetValueOrDefault GetValues GetVersion Group GroupBy GroupJoin Handle HasFlag HasValue Include IndexOf Info Init Initialize
InitializeAsync Insert InsertRange Inspect Intersect Invoke InvokeAsync Is IsAssignableFrom IsDefined
IsInstanceOfType IsMatch IsNullOrEmpty IsNullOrWhiteSpace IsSubclassOf Join Kill Last LastIndexOf LastOrDefault Length Listen Load LoadAsync
Lock Log LogCritical LogDebug LogError LogInformation LogTrace LogWarning Lookup MakeArrayType MakeGenericMethod MakeGenericType Map Mark
Match Matches Max MemberwiseClone Merge Min Move MoveNext MoveNextAsync Multiply Negate New Next Normalize Notify NotifyAll Of OfType OnNext
OnError OnCompleted On Open OpenAsync OpenRead OpenWrite Order OrderBy OrderByDescending PadLeft PadRight Parse ParseExact Pause Peek Ping Pipe
Play Poll Pop Post PostAsync Prepend Print Process Publish Pulse Push Put PutAsync Query Raise Range Read ReadAllBytes ReadAllText ReadAsStreamAsync
ReadAsStringAsync ReadAsync ReadByte ReadBytes ReadInt32 ReadInt64 ReadKey ReadLine ReadLineAsync ReadString ReadToEnd ReadToEndAsync Record Refresh
Register Release Reload Remove RemoveAll RemoveAt RemoveRange Render Repeat Replace Report Reset Resize Resolve
Restore Resume Return Reverse Rollback Run RunAsync Save SaveAsync SaveChanges SaveChangesAsync Scan Schedule Search Seek Select SelectMany
Send SendAsync SequenceEqual Serialize SerializeAsync Set SetData SetException SetItem SetLength SetResult SetName
SetProperty SetValue Setup Show Shuffle Shutdown Signal Single SingleOrDefault Skip SkipWhile Sort Split Start StartAsync
StartsWith Stop StopAsync Store Subscribe Substring Subtract Sum Swap Sync SyncRoot Take TakeWhile Tell Test Then ThenBy ThenByDescending
Throw ThrowIfCancellationRequested Throws Tick ToArray ToByteArray ToCharArray ToDictionary ToHashSet ToJson ToList ToListAsync ToLocalTime ToLookup
ToLongTimeString ToLower ToLowerInvariant ToShortTimeString ToString ToUniversalTime ToUpper ToUpperInvariant Trace Transform Trim
TrimEnd TrimStart TryAdd TryConvert TryCopyTo TryDequeue TryEnter TryFormat TryGet TryGetValue TryParse TryPeek TryPop TryRead TryRemove TryUpdate TryWrite Union
UnionWith Unlock Unregister Unsubscribe Update UpdateAsync Use Validate ValidateAsync Verify Visit Wait WaitAsync WaitAll
WaitAny WaitForExit WaitOne Warn When WhenAll WhenAny Where With Wrap Write WriteAllBytes WriteAllText WriteAsync WriteByte WriteEndElement
WriteLine WriteLineAsync WriteNull WriteStartElement WriteString WriteTo WriteValue Yield Zip`)
