TIDE_KB # the island of Merrowby, as a knowledge base
:Entity_1	type	PER	# Ilsa Brandreth in English documents
:Entity_1	mention	"Ilsa Brandreth"	ENG_ISLE_001:120-133
:Entity_1	mention	"Ilsa"	ENG_ISLE_010:10-13
:Entity_1	mention	"Ilsa"	ENG_ISLE_011:181-184
:Entity_1	mention	"Ilsa"	SPA_ISLE_012:37-40
:Entity_1	mention	"Ilsa"	ENG_ISLE_013:118-121
:Entity_1	mention	Ilsa	ENG_ISLE_014:64-67
:Entity_1	mention	"Ilsa"	ENG_ISLE_015:6-9
:Entity_1	mention	"Ilsa"	ENG_ISLE_016:27-30
:Entity_1	mention	"Ilsa"	ENG_ISLE_019:9-12
:Entity_1	per:children	:Entity_20	ENG_ISLE_010:36-104	0.95
:Entity_1	per:children	:Entity_20	ENG_ISLE_013:118-186	0.60
:Entity_1	per:children	:Entity_20	ENG_ISLE_015:6-70	0.45
:Entity_1	per:children	:Entity_10	ENG_ISLE_010:10-79	0.80
:Entity_1	per:children	:Entity_10	ENG_ISLE_011:181-240	0.50
:Entity_1	per:children	Entity_11	SPA_ISLE_012:37-106	0.75
:Entity_1	per:children	:Entity_30	ENG_ISLE_014:64-129	0.70
:Entity_1	per:children	:Entity_21	ENG_ISLE_013:286-346	0.40
:Entity_1	per:children	:Entity_40	ENG_ISLE_016:27-91	0.30
:Entity_1	per:children	:Entity_50	ENG_ISLE_019:9-76	0.20
:Entity_2	type	PER	# Ilsa Brandreth in Spanish documents: nobody saw that she is :Entity_1
:Entity_2	mention	"Ilsa Brandreth"	SPA_ISLE_002:15-28
:Entity_2	mention	"señora Brandreth"	SPA_ISLE_012:44-59
:Entity_2	mention	"Mrs Brandreth"	ENG_ISLE_016:33-45
:Entity_2	per:children	:Entity_11	SPA_ISLE_012:37-106	0.85
:Entity_2	per:children	:Entity_40	ENG_ISLE_016:27-91	0.25
:Entity_3	type	ORG	# Quillon Ferries
:Entity_3	mention	"Quillon Ferries"	ENG_ISLE_030:8-22
:Entity_3	mention	"Quillon"	ENG_ISLE_032:17-23
:Entity_3	mention	"Quillon"	ENG_ISLE_033:33-39
:Entity_3	org:top_members/employees	:Entity_70	ENG_ISLE_032:17-85	0.90
:Entity_3	org:top_members_employees	:Entity_71	ENG_ISLE_033:33-100	0.80
:Entity_4	type	ORG	# the same in Spanish
:Entity_4	mention	"Ferris Quillon"	SPA_ISLE_031:77-90
:Entity_4	mention	"Quillon"	SPA_ISLE_034:4-10
:Entity_4	org:top_members_employees	:Entity_70	SPA_ISLE_034:4-72	0.70
:Entity_5	type	ORG
:Entity_5	mention	"Lampblack Press"	ENG_ISLE_040:210-224
:Entity_5	mention	"the press"	ENG_ISLE_041:49-57
:Entity_5	mention	"Lampblack"	ENG_ISLE_042:5-13
:Entity_5	org:city_of_headquarters	:Entity_80	ENG_ISLE_041:49-113	0.55
:Entity_5	org:city_of_headquarters	:Entity_80	ENG_ISLE_042:5-69	0.35
:Entity_10	type	PER	# Corin Brandreth
:Entity_10	canonical_mention	"Corin Brandreth"	ENG_ISLE_010:34-48
:Entity_10	mention	"Corin"	ENG_ISLE_011:205-209
:Entity_10	mention	"Corin"	ENG_ISLE_020:78-82
:Entity_10	mention	"Corin"	ENG_ISLE_021:23-27
:Entity_10	per:schools_attended	:Entity_60	ENG_ISLE_020:78-149	0.90
:Entity_10	per:schools_attended	:Entity_60	ENG_ISLE_021:23-94	0.70
:Entity_11	type	PER	# Corin Brandreth in Spanish
:Entity_11	mention	"Corin Brandreth"	SPA_ISLE_012:61-75
:Entity_11	mention	"Corin"	SPA_ISLE_025:109-113
:Entity_11	per:schools_attended	:Entity_61	SPA_ISLE_025:109-181	0.60
:Entity_20	type	PER	# two people taken for one: Maud Brandreth and Tobin Vane
:Entity_20	mention	"Maud Brandreth"	ENG_ISLE_010:60-73
:Entity_20	mention	"Maud Brandreth"	ENG_ISLE_013:142-155
:Entity_20	mention	"Tobin Vane"	ENG_ISLE_015:30-39
:Entity_20	mention	"Maud"	ENG_ISLE_023:156-159
:Entity_20	per:schools_attended	:Entity_60	ENG_ISLE_023:156-227	0.80
:Entity_20	per:siblings	:Entity_10	ENG_ISLE_010:10-79	0.50
:Entity_21	type	PER
:Entity_21	mention	"Maud B"	ENG_ISLE_013:310-315
:Entity_30	type	PER	# Tobin Vane again
:Entity_30	nominal_mention	"her stepson"	ENG_ISLE_014:88-98
:Entity_40	type	PER
:Entity_40	mention	"Edda Coyle"	ENG_ISLE_016:51-60
:Entity_40	mention	"Edda"	ENG_ISLE_024:51-54
:Entity_40	per:schools_attended	:Entity_60	ENG_ISLE_024:51-122	0.60
:Entity_50	type	PER
:Entity_50	mention	"Zeb Brandreth"	ENG_ISLE_019:33-45
:Entity_60	type	ORG
:Entity_60	mention	"Gullhaven Academy"	ENG_ISLE_020:102-118
:Entity_60	mention	"Gullhaven Academy"	ENG_ISLE_021:47-63
:Entity_60	mention	"Gullhaven Academy"	ENG_ISLE_023:180-196
:Entity_60	mention	"Gullhaven Academy"	ENG_ISLE_024:75-91
:Entity_61	type	ORG
:Entity_61	mention	"Academia Gullhaven"	SPA_ISLE_025:133-150
:Entity_70	type	PER
:Entity_70	mention	"Peregrine Losk"	ENG_ISLE_032:41-54
:Entity_70	mention	"Peregrine Losk"	SPA_ISLE_034:28-41
:Entity_70	mention	"Losk"	ENG_ISLE_035:175-178
:Entity_70	per:city_of_birth	:Entity_80	ENG_ISLE_035:175-239	0.75
:Entity_71	type	PER
:Entity_71	mention	"Bettina Ruark"	ENG_ISLE_033:57-69
:Entity_71	mention	"Ruark"	ENG_ISLE_037:60-64
:Entity_71	per:city_of_birth	:Entity_81	ENG_ISLE_037:60-123	0.65
:Entity_80	type	GPE
:Entity_80	mention	"Port Ansel"	ENG_ISLE_035:199-208
:Entity_80	mention	"Port Ansel"	ENG_ISLE_041:73-82	1
:Entity_80	mention	"Port Ansel"	ENG_ISLE_042:29-38
:Entity_81	type	GPE
:Entity_81	mention	"Gullhaven"	ENG_ISLE_037:84-92
