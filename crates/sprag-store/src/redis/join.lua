-- What a pod has to know before it may judge. The first one makes the namespace.
--
-- KEYS: head, and the pod's fence where it raises it.
-- ARGV: rules version, a secret and a name for the namespace in case it is new; number and life of the fence.
local now = redis.call('TIME')
-- A greeting that was given up and comes late must not lower it again.
if KEYS[2] and tonumber(ARGV[4]) > (tonumber(redis.call('GET', KEYS[2])) or 0) then
  redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
end
redis.call('HSETNX', KEYS[1], 'rules', ARGV[1])
redis.call('HSETNX', KEYS[1], 'secret', ARGV[2])
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[3])
local rules = redis.call('HGET', KEYS[1], 'rules')
if tonumber(rules) < tonumber(ARGV[1]) then
  rules = ARGV[1]
  redis.call('HSET', KEYS[1], 'rules', rules)
end
local head = redis.call('HMGET', KEYS[1], 'secret', 'epoch', 'seq', 'hash', 'note')
return {now[1], now[2], rules, head[1], head[2], head[3] or '0', head[4] or '', head[5] or '0'}
