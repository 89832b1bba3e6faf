# One network of the grid, several times side by side: ns network.tcl KEY VALUE...; prints a line
# for each time: segments acknowledged, segments retransmitted, timeouts, of all flows together, and
# packets dropped at the bottleneck.
array set given $argv

ns-random 1
set ns [new Simulator]
$ns rtproto Static

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set maxrto_ 60
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set singledup_ $given(limited)
Agent/TCP set overhead_ $given(overhead)
Agent/TCP set maxburst_ 0
Agent/TCPSink set packetSize_ 40
Agent/TCPSink/DelAck set interval_ 0.1
Agent/TCPSink/Sack1/DelAck set interval_ 0.1

Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ $given(minimum)
Queue/RED set maxthresh_ [expr 3 * $given(minimum)]
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set adaptive_ 0
Queue/RED set gentle_ true
Queue/RED set wait_ false
Queue/RED set setbit_ false
Queue/RED set drop_tail_ true
Queue/RED set mean_pktsize_ 1000
Queue/RED set cautious_ 0

set agents(reno) Reno
set agents(newreno) Newreno
set agents(sack) Sack1
set sinks(0) TCPSink
set sinks(1) TCPSink/DelAck
if {$given(recovery) == "sack"} {
  set sinks(0) TCPSink/Sack1
  set sinks(1) TCPSink/Sack1/DelAck
}

for {set n 0} {$n < $given(times)} {incr n} {
  set left [$ns node]
  set right [$ns node]
  $ns simplex-link $left $right $given(rate) $given(delay) $given(queue)
  $ns simplex-link $right $left 100Mb $given(delay) DropTail
  $ns queue-limit $left $right $given(limit)
  set monitor($n) [$ns monitor-queue $left $right ""]
  $ns queue-limit $right $left 100000
  for {set i 0} {$i < $given(flows)} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    set near [expr ($given(access) + 0.13 * $n + $i * $given(step)) / 1000.0]
    $ns duplex-link $source $left 100Mb $near DropTail
    $ns duplex-link $right $sink 100Mb [expr $given(access) / 1000.0] DropTail
    $ns queue-limit $source $left 100000
    $ns queue-limit $right $sink 100000
    set tcp($n,$i) [new Agent/TCP/$agents($given(recovery))]
    set to [new Agent/$sinks($given(delayed))]
    $ns attach-agent $source $tcp($n,$i)
    $ns attach-agent $sink $to
    $ns connect $tcp($n,$i) $to
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($n,$i)
    $ns at [expr $i * 0.37 + 0.0137 * ($n + 1)] "$ftp start"
  }
}

proc finish {} {
  global tcp given monitor
  for {set n 0} {$n < $given(times)} {incr n} {
    array set sum {ack_ 0 nrexmitpack_ 0 nrexmit_ 0}
    for {set i 0} {$i < $given(flows)} {incr i} {
      foreach name [array names sum] {
        incr sum($name) [$tcp($n,$i) set $name]
      }
    }
    puts "$sum(ack_) $sum(nrexmitpack_) $sum(nrexmit_) [$monitor($n) set pdrops_]"
  }
  exit 0
}
$ns at $given(seconds) finish
$ns run
